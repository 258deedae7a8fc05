// The types of Next and of style sheets, also before the first build has made next-env.d.ts.
/// <reference types="next" />
/// <reference types="next/image-types/global" />
