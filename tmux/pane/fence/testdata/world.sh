# Makes the folders that the lines of escapes.txt and of the read-only sandbox's corpus work on.
set -e
mkdir -p "$OUT/d" "$OUT/e" "$OUT/names" "$WS" "$HOME" "$TMPDIR" "$VDIR"
echo c4n4ry >"$VDIR/secret"
echo keep >"$OUT/f"; echo g >"$OUT/d/g"; echo c4n4ry >"$OUT/secret"; : >"$OUT/names/c4n4ry.txt"
chmod 600 "$OUT/f" "$OUT/secret"
ln -s f "$OUT/l"
echo c4n4ry >"$HOME/secret"
mkdir -p "$HOME/.config/go/telemetry"; echo off >"$HOME/.config/go/telemetry/mode"
printf '[user]\n\tname = x\n\temail = x@x\n[init]\n\tdefaultBranch = main\n[gc]\n\tauto = 0\n' >"$HOME/.gitconfig"
cd "$WS"
git init -q --template= .
echo 1 >f1; echo ext >f.ext; echo flt >f.flt
mkdir .buddyx keys; echo c4n4ry >.buddyx/secret; echo c4n4ry >keys/hidden
printf '#!/bin/sh\necho ran\n' >x.sh; chmod +x x.sh
printf 'all:\n\ttouch "$(OUT)/new"\n' >Makefile
printf '*.ext diff=evil\n*.flt filter=evil\n' >.gitattributes
git add -A; git commit -qm one
git checkout -q -b side; echo s >side; git add side; git commit -qm side; git checkout -q main
echo 2 >f1; echo more >>f.ext; git commit -qam two; echo 3 >f1; echo more >>f.ext; echo n >f2
ln -s "$OUT/secret" link
