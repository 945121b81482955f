// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "spec/TakenNames.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using llvm::StringRef;

namespace mhac {

// Functions of <math.h>, each also with the suffixes f and l.
static const StringRef mathNames =
    "acos acosh asin asinh atan atan2 atanh cabs carg cbrt ceil cexp cimag clog conj copysign cos cosh cpow cproj creal csqrt erf "
    "erfc exp exp10 exp2 expm1 fabs fdim floor fma fmax fmin fmod frexp gamma hypot ilogb j0 j1 jn ldexp lgamma llrint llround log "
    "log10 log1p log2 logb lrint lround modf nan nearbyint nextafter nexttoward pow remainder remquo rint round scalb scalbln scalbn "
    "significand sin sincos sinh sqrt tan tanh tgamma trunc y0 y1 yn";

static const StringRef otherNames =
    // <stddef.h>, <stdint.h>, <stdbool.h> and what compilers predefine
    "NULL bool complex errno i386 imaginary linux max_align_t nullptr_t offsetof ptrdiff_t size_t ssize_t std unix I DBL_EPSILON "
    "DBL_MAX DBL_MIN EOF FLT_EPSILON FLT_MAX FLT_MIN HUGE_VAL INFINITY NAN "
    // <string.h>, <strings.h>
    "bcmp bcopy bzero ffs index memccpy memchr memcmp memcpy memmem memmove mempcpy memrchr memset rindex stpcpy stpncpy strcasecmp "
    "strcasestr strcat strchr strchrnul strcmp strcoll strcpy strcspn strdup strerror strerror_r strlcat strlcpy strlen strncasecmp "
    "strncat strncmp strncpy strndup strnlen strpbrk strrchr strsep strsignal strspn strstr strtok strtok_r strxfrm swab "
    // <stdlib.h>
    "abort abs aligned_alloc at_quick_exit atexit atof atoi atol atoll bsearch calloc clearenv div drand48 environ exit free getenv "
    "labs ldiv llabs lldiv malloc mblen mbstowcs mbtowc mkdtemp mkstemp mktemp on_exit posix_memalign putenv qsort qsort_r quick_exit "
    "rand rand_r random realloc reallocarray realpath setenv srand srandom strtod strtof strtol strtold strtoll strtoul strtoull "
    "system unsetenv valloc wcstombs wctomb "
    // <stdio.h>
    "FILE clearerr dprintf fclose fdopen feof ferror fflush fgetc fgetpos fgets fileno fmemopen fopen fprintf fputc fputs fread "
    "freopen fscanf fseek fseeko fsetpos ftell ftello fwrite getc getchar getdelim getline gets open_memstream pclose perror popen "
    "printf putc putchar puts remove rename rewind scanf setbuf setvbuf snprintf sprintf sscanf stderr stdin stdout tmpfile tmpnam "
    "ungetc vasprintf asprintf vdprintf vfprintf vfscanf vprintf vscanf vsnprintf vsprintf vsscanf "
    // <ctype.h>, <wchar.h>
    "isalnum isalpha isascii isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper isxdigit toascii tolower toupper "
    "wcscat wcschr wcscmp wcscpy wcslen wcsncmp wcsncpy wcsstr wmemchr wmemcmp wmemcpy wmemmove wmemset wprintf "
    // <assert.h>, <setjmp.h>, <signal.h>, <locale.h>, <time.h>
    "alarm asctime assert clock clock_getres clock_gettime ctime difftime gettimeofday gmtime kill localeconv localtime longjmp "
    "mktime nanosleep raise setjmp setlocale sigaction siglongjmp signal sigsetjmp strftime strptime time timegm timezone tzset "
    // <unistd.h>, <fcntl.h>, <sys/*.h>, <dlfcn.h>, <sched.h>, <semaphore.h>
    "accept access bind brk chdir chmod chown close closedir connect creat daemon dlclose dlerror dlopen dlsym dup dup2 execl execle "
    "execlp execv execve execvp fchmod fcntl fork fstat fsync ftruncate getcwd getopt getpagesize getpid getppid getrusage getuid "
    "ioctl isatty link listen lseek lstat madvise mkdir mkfifo mlock mmap mprotect munlock munmap nice open opendir optarg optind "
    "pause pipe poll pread pwrite read readdir readlink readv recv recvfrom recvmsg rmdir sbrk sched_getaffinity sched_setaffinity "
    "sched_yield select sem_destroy sem_init sem_post sem_wait send sendmsg sendto setsockopt shutdown sleep socket stat symlink sync "
    "syscall sysconf truncate umask uname unlink usleep vfork wait waitpid write writev";

static llvm::StringSet<> makeTable() {
  llvm::StringSet<> table;
  llvm::SmallVector<StringRef> words;
  otherNames.split(words, ' ');
  for (StringRef word : words)
    table.insert(word);
  words.clear();
  mathNames.split(words, ' ');
  for (StringRef word : words)
    for (const char *suffix : {"", "f", "l"})
      table.insert((word + suffix).str());
  return table;
}

/// "8", "_least16", "_fast32", "max", "ptr": what follows int in the types of <stdint.h>.
static bool isIntegerKind(StringRef text) {
  if (text == "max" || text == "ptr")
    return true;
  if (!text.consume_front("_least"))
    text.consume_front("_fast");
  return !text.empty() && llvm::all_of(text, llvm::isDigit);
}

/// uint8_t, INT_FAST16_MAX, INT64_C, SIZE_MAX and their like.
static bool isStdintName(StringRef name) {
  std::string lower = name.lower();
  StringRef rest = lower;
  if (name == lower) {
    rest.consume_front("u");
    return rest.consume_front("int") && rest.consume_back("_t") && isIntegerKind(rest);
  }
  bool isLimit = rest.consume_back("_max") || rest.consume_back("_min") || rest.consume_back("_c") || rest.consume_back("_width");
  if (name != name.upper() || !isLimit)
    return false;
  for (StringRef word : {"char", "schar", "uchar", "shrt", "ushrt", "int", "uint", "long", "ulong", "llong", "ullong", "ptrdiff", "size",
                         "ssize", "sig_atomic", "wchar", "wint"})
    if (rest == word)
      return true;
  rest.consume_front("u");
  return rest.consume_front("int") && isIntegerKind(rest);
}

// Sizes, activations, weights, what masks, scores and positions ask for, outputs, and the fields around them.
static const StringRef interfaceNames =
    "struct_size workspace workspace_bytes prepared batch query key mask_keys x memory q k v wqkv wq wk wv wo wqkv_scales wq_scales wk_scales wv_scales wo_scales bqkv bq bk bv bo q_norm_weight "
    "k_norm_weight key_lengths key_starts global_tokens global_queries global_keys prefix_lengths documents query_documents key_documents "
    "mask score_bias relative_bias sinks position_ids query_position_ids key_position_ids y lse attention_map map_statistics key_mass "
    "head_norms";

bool isInterfaceName(StringRef name) {
  llvm::SmallVector<StringRef> words;
  interfaceNames.split(words, ' ');
  return name.ends_with("_strides") || llvm::is_contained(words, name);
}

bool isLibraryName(StringRef name) {
  static const llvm::StringSet<> table = makeTable();
  return table.contains(name) || name.starts_with("pthread_") || isStdintName(name);
}

} // namespace mhac
