package shell

import (
	"slices"
	"strings"
)

// vital lists the folders that must not be deleted, moved or given other permissions as a whole. Home folders and the
// folders above them are vital too.
var vital = strings.Fields("/ /bin /boot /boot/efi /dev /etc /home /lib /lib32 /lib64 /libx32 /opt /proc /root /sbin /srv /sys /sys/firmware /usr " +
	"/usr/bin /usr/sbin /usr/lib /usr/lib64 /usr/libexec /usr/share /var /var/lib /lib/x86_64-linux-gnu /usr/lib/x86_64-linux-gnu /lib/aarch64-linux-gnu /usr/lib/aarch64-linux-gnu /usr/lib/systemd /nix /nix/store /snap /Users /System /Library /Applications " +
	"/private /private/etc /private/var /mnt/c /mnt/c/Users /mnt/c/Windows /data/data ~ ~/.")

// vitalFiles lists patterns of files without which a machine does not start, or nobody can log in.
var vitalFiles = strings.Fields("/etc/passwd /etc/shadow /etc/group /etc/gshadow /etc/sudoers /etc/fstab /etc/pam.d/* /boot/vmlinuz* /boot/initrd* /boot/initramfs* " +
	"/boot/grub/* /boot/grub2/* /boot/efi/* /vmlinuz /initrd.img /bin/sh /bin/bash /usr/bin/sh /usr/bin/bash /usr/bin/sudo /sbin/init /usr/sbin/init " +
	"/lib/*/libc.so* /usr/lib/*/libc.so* /lib/ld-* /lib64/ld-* /lib/systemd/systemd /usr/lib/systemd/systemd /etc/ld.so.preload /private/etc/passwd")

// systemFolders lists folders that are ruined even by "rm FOLDER/*", which keeps their subfolders.
var systemFolders = strings.Fields("/bin /sbin /lib /lib64 /usr/bin /usr/sbin /usr/lib /usr/lib64 /boot /etc")

// eraser is a row of the table of programs that erase disks or partitions.
type eraser struct {
	name  string // one or more
	with  string // words, one of which must be given; "" needs none. Single letters match in clusters of flags
	safe  string // words with which it only reads
	disk  bool   // only if it names a disk, or a word is computed
	vital bool   // only if an operand is a vital folder
	does  string
}

// erasers lists the programs that erase a disk, and the words with which they do so.
var erasers = []eraser{
	{name: "mkfs mke2fs newfs mkdosfs mkntfs", disk: true, does: "creates a file system, which erases the data on the disk"},
	{name: "mkswap", disk: true, does: "creates a swap area, which erases the data on the disk"},
	{name: "wipefs", with: "-a --all -o --offset", safe: "-n --no-act", disk: true, does: "erases signatures, which hides the data on the disk"},
	{name: "blkdiscard", disk: true, does: "discards all blocks of the disk"},
	{name: "badblocks", with: "-w", disk: true, does: "overwrites the disk"},
	{name: "hdparm", with: "--security-erase --security-erase-enhanced --trim-sector-ranges --make-bad-sector --write-sector", does: "erases the disk"},
	{name: "nvme", with: "format sanitize write-zeroes write-uncor dsm delete-ns", does: "erases the disk"},
	{name: "cryptsetup", with: "luksFormat luksErase erase luksKillSlot", disk: true, does: "makes the data on the disk unreadable"},
	{name: "fdisk", safe: "-l --list -s --getsz -V --version -h --help", disk: true, does: "changes partitions"},
	{name: "cfdisk", safe: "-V --version -h --help", disk: true, does: "changes partitions"},
	{name: "sfdisk", safe: "-l --list -d --dump -J --json -s -V --verify -v --version -F --list-free -h --help", disk: true, does: "changes partitions"},
	{name: "gdisk", safe: "-l", disk: true, does: "changes partitions"},
	{name: "cgdisk", disk: true, does: "changes partitions"},
	{name: "sgdisk", safe: "-p --print -i --info -v --verify -L -b --backup", disk: true, does: "changes partitions"},
	{name: "parted", with: "mklabel mktable mkpart mkpartfs rm resizepart", does: "changes partitions"},
	{name: "pvremove", disk: true, does: "erases a volume"},
	{name: "pvcreate", disk: true, does: "erases the data on the disk"},
	{name: "vgremove", does: "deletes a group of volumes"},
	{name: "mdadm", with: "--zero-superblock", does: "erases part of a RAID"},
	{name: "zpool", with: "destroy labelclear", does: "destroys a pool"},
	{name: "dmsetup", with: "remove_all wipe_table", does: "removes disks that are in use"},
	{name: "nwipe", does: "erases disks"},
	{name: "wipe", disk: true, does: "erases disks"},
	{name: "scrub", disk: true, does: "erases the disk"},
	{name: "sg_format", does: "formats the disk"},
	{name: "sg_sanitize", does: "erases the disk"},
	{name: "flashrom", with: "-w --write -E --erase", does: "overwrites the firmware"},
	{name: "efibootmgr", with: "-B --delete-bootnum", does: "deletes a boot entry of the machine"},
	{name: "diskutil", with: "eraseDisk eraseVolume eraseall zeroDisk randomDisk secureErase partitionDisk reformat", does: "erases a disk"},
	{name: "userdel deluser", does: "deletes a user, perhaps with the home folder", safe: "-h --help"},
	{name: "crontab", with: "-r", does: "deletes all of the user's scheduled jobs, without a copy"},
	{name: "crontab", with: "/dev/null", does: "replaces all of the user's scheduled jobs with none"},
	{name: "killall5", does: "ends all processes", safe: "-h --help"},
	{name: "loginctl", with: "terminate-user kill-user", does: "ends all processes of a user"},
	{name: "kexec", with: "-e --exec", does: "starts another kernel at once"},
	{name: "tar", with: "--remove-files", vital: true, does: "deletes the files it packs, in a folder that the machine needs"},
	{name: "zip", with: "-m --move", vital: true, does: "deletes the files it packs, in a folder that the machine needs"},
	{name: "7z 7za", with: "-sdel", vital: true, does: "deletes the files it packs, in a folder that the machine needs"},
	{name: "rtcwake", with: "off", does: "stops the machine"},
}

// stoppers lists programs that stop the machine whatever their arguments.
var stoppers = strings.Fields("shutdown reboot poweroff halt")

// stopLines lists commands that stop the machine only with certain arguments.
var stopLines = slices.Concat(variants("init|telinit 0|6"), variants("systemctl|loginctl poweroff|reboot|halt"), variants("systemctl kexec|soft-reboot|emergency"),
	variants("systemctl start|isolate reboot.target|poweroff.target|halt.target|kexec.target|emergency.target|shutdown.target"))

// destroyers lists the programs that delete, empty or lock the files that xargs and find pass to them.
var destroyers = strings.Fields("rm srm unlink shred truncate rmdir trash chmod chown chgrp")

// fetchers lists programs that download. Running a download that nobody has read counts as harm.
var fetchers = strings.Fields("curl wget fetch aria2c lynx http https xh nc ncat socat")

// interpreters lists programs that execute their input, or the file in their arguments.
var interpreters = strings.Fields("sh bash dash zsh ksh mksh ash fish python python2 python3 perl ruby node php lua deno bun java osascript pwsh tclsh Rscript")

// passers lists commands that pass on all of their input.
var passers = strings.Fields("cat sort tac shuf tr uniq tee")

// narrowing lists find's tests that select only some of the files.
var narrowing = strings.Fields("-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -mtime -mmin -atime -amin -ctime -cmin -newer -newermt " +
	"-anewer -cnewer -size -empty -user -group -uid -gid -nouser -nogroup -perm -links -inum -samefile -xtype -used -fstype")
