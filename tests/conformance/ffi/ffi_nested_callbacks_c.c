int bounce(int n, int (*f)(int)) { return f(n) + 1; }
