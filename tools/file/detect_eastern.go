package file

import (
	"sync"
	"unicode/utf8"
)

// eastern is an encoding with two-byte characters, with the frequencies of these characters.
type eastern struct {
	*charset
	rows     []row
	frequent string // the characters that make up at least half of a usual text
	codes    map[[2]byte]bool
	single   [2]byte // the range of first bytes that are characters by themselves, which are rare
}

// row is a range of characters by their first and second bytes. Its bits say how much likelier one of the characters is
// in a text in the encoding than two bytes by chance. The first matching row counts.
type row struct {
	from, to  byte
	low, high byte // of the second byte
	bits      float64
}

// easterns returns the encodings of eastern Asia. The rows of frequent characters follow the standards: their level 1
// covers 19 of 20 characters of a usual text. The first rows are punctuation and kana.
var easterns = sync.OnceValue(func() []eastern {
	all := []eastern{
		{charset: gbk, frequent: frequentSimplified, rows: []row{
			{0xa1, 0xa1, 0xa1, 0xfe, 3},
			{0xa3, 0xa3, 0xa1, 0xfe, 3},
			{0xb0, 0xc8, 0xa1, 0xfe, 1},
			{0xc9, 0xcf, 0xa1, 0xfe, 1.5},
			{0xd0, 0xd7, 0xa1, 0xfe, 2},
			{0x81, 0xfe, 0x40, 0x7e, rare},
			{0x81, 0xfe, 0x80, 0xfe, rare},
		}},
		{charset: big5, frequent: frequentTraditional, rows: []row{
			{0xa1, 0xa1, 0x40, 0x7e, 3},
			{0xa4, 0xa6, 0x40, 0x7e, 2},
			{0xa4, 0xa6, 0xa1, 0xfe, 2},
			{0xa7, 0xc6, 0x40, 0x7e, 0.5},
			{0xa7, 0xc6, 0xa1, 0xfe, 0.5},
			{0x81, 0xfe, 0x40, 0x7e, rare},
			{0x81, 0xfe, 0xa1, 0xfe, rare},
		}},
		{charset: shiftJIS, frequent: frequentJapanese, single: [2]byte{0xa1, 0xdf}, rows: []row{
			{0x81, 0x81, 0x40, 0x7e, 3},
			{0x82, 0x82, 0x9f, 0xf1, 5},
			{0x83, 0x83, 0x40, 0x96, 4},
			{0x88, 0x88, 0x9f, 0xfc, 1},
			{0x89, 0x97, 0x40, 0x7e, 1},
			{0x89, 0x97, 0x80, 0xfc, 1},
			{0x98, 0x98, 0x40, 0x72, 1},
			{0x81, 0x9f, 0x40, 0x7e, rare},
			{0x81, 0x9f, 0x80, 0xfc, rare},
			{0xe0, 0xfc, 0x40, 0x7e, rare},
			{0xe0, 0xfc, 0x80, 0xfc, rare},
		}},
		{charset: eucJP, frequent: frequentJapanese, rows: []row{
			{0xa1, 0xa1, 0xa1, 0xdc, 3},
			{0xa4, 0xa4, 0xa1, 0xf3, 5},
			{0xa5, 0xa5, 0xa1, 0xf6, 4},
			{0xb0, 0xcf, 0xa1, 0xfe, 1},
			{0x8e, 0x8e, 0xa1, 0xdf, rare},
			{0x8f, 0x8f, 0xa1, 0xfe, rare},
			{0xa1, 0xfe, 0xa1, 0xfe, rare},
		}},
		{charset: eucKR, frequent: frequentKorean, rows: []row{
			{0xb0, 0xc8, 0xa1, 0xfe, 2},
			{0x81, 0xfe, 0x41, 0x5a, rare},
			{0x81, 0xfe, 0x61, 0x7a, rare},
			{0x81, 0xfe, 0x81, 0xfe, rare},
		}},
	}
	for i := range all {
		all[i].codes = make(map[[2]byte]bool)
		for _, r := range all[i].frequent {
			if code, err := all[i].encode(string(r)); err == nil && len(code) == 2 {
				all[i].codes[[2]byte(code)] = true
			}
		}
	}
	return all
})

// likely returns how much likelier data is in the encoding than by chance.
func (e eastern) likely(data []byte) (bits float64) {
	for at := 0; at < len(data); {
		b := data[at]
		switch {
		case b < utf8.RuneSelf:
			at++
		case b >= e.single[0] && b <= e.single[1]:
			bits += rare / 2
			at++
		default:
			one, size := e.pair(data[at:])
			bits += one
			at += size
		}
	}
	return bits
}

// pair rates the character at the beginning of data and returns its size in bytes.
func (e eastern) pair(data []byte) (bits float64, size int) {
	if len(data) < 2 {
		return impossible, 1
	}
	if e.codes[[2]byte(data)] {
		return 6, 2
	}
	for _, r := range e.rows {
		if data[0] >= r.from && data[0] <= r.to && data[1] >= r.low && data[1] <= r.high {
			return r.bits, 2
		}
	}
	return impossible, 1
}

// The most frequent characters in prose and in texts about programs.
const (
	frequentSimplified = "的一是不了在人有我他这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可里后小么心多天而能好都然没日于起还发成事只作当想看文无开手十用主行方又如前所本见经头面公同三已从动两长知样现分将外但些与高进把法此实回二理美点月明其种声全工己话儿者向情部正名定女问力机给等几业最间新什打便位因重被走电四第门相次东政海口使教西再平真听世气信北少关并内加化由却代军产入先" +
		"件数据值类型错误返回函数变量注释测试配置设置文件路径用户密码删除添加修改更新读取写入默认参数名称字符串列表"
	frequentTraditional = "的一是不了在人有我他這中大來上國個到說們為子和你地出道也時年得就那要下以生會自著去之過家學對可裡後小麼心多天而能好都然沒日於起還發成事只作當想看文無開手十用主行方又如前所本見經頭面公同三已從動兩長知樣現分將外但些與高進把法此實回二理美點月明其種聲全工己話兒者向情部正名定女問力機給等幾業最間新什打便位因重被走電四第門相次東政海口使教西再平真聽世氣信北少關並內加化由卻代軍產入先" +
		"件數據資料值類型錯誤返回函式變數註解測試配置設定檔案路徑使用者密碼刪除新增修改更新讀取寫入預設參數名稱字串列表"
	frequentJapanese = "のにをはがたてとしいなるでですもかれこさらまりくあっうきよえおけめせそみちつどやろわねだばじ、。ーンスルトリクアイラタレドロシジテムプフコマデメサバパィッ" +
		"日本語人大年一国中会出上生時行見月分後前間入今同学用使名文字数値型設定処理関数変更追加削除表示確認場合必要対象情報結果内容項目参照取得保存作成実行開始終了方法手動自動新規利用注意説明"
	frequentKorean = "이다는에의을를가고한하로지기사도은서나자인대리어시정보그들일수있으해라게스아장만전주적여부상구원제과와면조공경화성모안우오비세위소거치신무동었된않습니까내용파름값설변추삭생문열글검입력출실행결과오류함목록저장읽쓰테트요것때말당후음"
)
