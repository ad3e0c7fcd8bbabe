#ifndef PURSER_CCURL_H
#define PURSER_CCURL_H
#endif
