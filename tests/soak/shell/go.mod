module tidegate/soak

go 1.19

require mvdan.cc/sh/v3 v3.6.0
