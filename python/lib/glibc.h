/* Names the oldest version of the functions that newer glibc has moved from libpthread into libc, so that a library built
 * beside a new glibc loads beside an old one. It is included before every C file: see backend/wpm_build.py.
 */
#ifndef WPM_GLIBC_H
#define WPM_GLIBC_H
#if defined(__ASSEMBLER__) || !defined(__linux__)
#elif defined(__x86_64__)
#define WPM_OLD "@GLIBC_2.2.5"
#elif defined(__aarch64__)
#define WPM_OLD "@GLIBC_2.17"
#endif
#ifdef WPM_OLD
__asm__(".symver pthread_create,pthread_create" WPM_OLD);
__asm__(".symver pthread_sigmask,pthread_sigmask" WPM_OLD);
__asm__(".symver pthread_attr_getstacksize,pthread_attr_getstacksize" WPM_OLD);
__asm__(".symver pthread_attr_getstack,pthread_attr_getstack" WPM_OLD);
__asm__(".symver pthread_getattr_np,pthread_getattr_np" WPM_OLD);
__asm__(".symver pthread_key_create,pthread_key_create" WPM_OLD);
__asm__(".symver pthread_setspecific,pthread_setspecific" WPM_OLD);
#endif
#endif
