package filelock

// setLock is the fcntl command for locks that belong to the open file, not to the process:
// F_OFD_SETLK of <sys/fcntl.h>, which package unix does not define.
const setLock = 90
