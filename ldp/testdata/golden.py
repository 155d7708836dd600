"""Second implementation of the frozen stream of TestGoldenStream, in rationals and 400-digit decimals.

Run: python3 testdata/golden.py   (standard library only)
It prints, for each case, the hash of lo, hi and n, and the hash of 10,000 indices.
"""
import hashlib, struct, math
from fractions import Fraction as F
from decimal import Decimal, getcontext
getcontext().prec=400
M=(1<<64)-1
class S:
    def __init__(s,seed): s.state=seed; s.buf=b''
    def next(s):
        s.state=(s.state+0x9e3779b97f4a7c15)&M; z=s.state
        z=((z^(z>>30))*0xbf58476d1ce4e5b9)&M
        z=((z^(z>>27))*0x94d049bb133111eb)&M
        return z^(z>>31)
    def float(s): return (s.next()>>11)/2**53
    def read(s,n):
        o=b''
        while len(o)<n:
            if not s.buf: s.buf=struct.pack('<Q',s.next())
            o+=s.buf[:1]; s.buf=s.buf[1:]
        return o
def base(s,kv):
    m=[0.0]*kv; tot=0.0
    for j in range(kv):
        c=s.next()%5
        if c==0: pass
        elif c==1: m[j]=s.float()*1e-6
        else: m[j]=s.float()
        tot+=m[j]
    if tot==0: m[0]=tot=1.0
    return [x/tot for x in m]
def dexp(fr):
    return (Decimal(fr.numerator)/Decimal(fr.denominator)).exp()
def box(eps,m,B):
    T=1<<B; E=F(dexp(eps)); G=F(dexp(eps/2))
    lo=[math.ceil(F(math.ceil(T*G*F(x)))/E) for x in m]
    assert sum(lo)<=T, "trim"
    hi=[min(math.floor(E*l),T) for l in lo]
    assert sum(hi)>=T
    return lo,hi
def rnd(lo,hi,B,q):
    T=1<<B
    X=[F(x)*T for x in q]
    n=[min(max(math.floor(x),l),h) for x,l,h in zip(X,lo,hi)]
    d=T-sum(n)
    if d<0:
        for j in range(len(n)):
            k=min(-d,n[j]-lo[j]); n[j]-=k; d+=k
    else:
        fr=sorted((-(X[j]-n[j]),j) for j in range(len(n)) if lo[j]<=X[j] and n[j]<hi[j] and X[j]>n[j])
        for _,j in fr:
            if d>0: n[j]+=1; d-=1
        for j in range(len(n)):
            k=min(d,hi[j]-n[j]); n[j]+=k; d-=k
    assert d==0
    return n
for name,eps,kv,B in [("ring",F(5),30,62),("movielens",F(1,5),250,62),("gowalla",F(4),400,32),("few bits",F(1,3),10,13),("one column",F(1),1,8)]:
    s=S((kv<<8)+B); m=base(s,kv); q=[m[j]*s.float()*2 for j in range(kv)]
    lo,hi=box(eps,m,B); n=rnd(lo,hi,B,q)
    h=hashlib.sha256(b''.join(struct.pack('<QQQ',*t) for t in zip(lo,hi,n))).hexdigest()
    r=S(99); cum=[]; c=0
    for v in n: c+=v; cum.append(c)
    import bisect
    o=b''
    for _ in range(10000):
        x=int.from_bytes(r.read((B+7)//8),'little')&((1<<B)-1)
        o+=struct.pack('<I',bisect.bisect_right(cum,x))
    print(name,h,hashlib.sha256(o).hexdigest())
