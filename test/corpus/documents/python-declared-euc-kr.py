# -*- coding: euc-kr -*-
print("안녕하세요")
