-- Code that allocates 60 KB at a time, far more than such a nursery has: a long list of constructors in brackets.
-- ghc: -O -rtsopts -with-rtsopts=-A16k
-- timeout: 180
import Control.Concurrent
import Control.Monad

data T = T Int Int Int Int Int Int Int Int

ends :: T -> Int
ends (T a _ _ _ _ _ _ b) = a + b

several :: Int -> [T]
several x =
  [ T x x x x x x x 0, T x x x x x x x 1, T x x x x x x x 2, T x x x x x x x 3, T x x x x x x x 4, T x x x x x x x 5, T x x x x x x x 6, T x x x x x x x 7
  , T x x x x x x x 8, T x x x x x x x 9, T x x x x x x x 10, T x x x x x x x 11, T x x x x x x x 12, T x x x x x x x 13, T x x x x x x x 14, T x x x x x x x 15
  , T x x x x x x x 16, T x x x x x x x 17, T x x x x x x x 18, T x x x x x x x 19, T x x x x x x x 20, T x x x x x x x 21, T x x x x x x x 22, T x x x x x x x 23
  , T x x x x x x x 24, T x x x x x x x 25, T x x x x x x x 26, T x x x x x x x 27, T x x x x x x x 28, T x x x x x x x 29, T x x x x x x x 30, T x x x x x x x 31
  , T x x x x x x x 32, T x x x x x x x 33, T x x x x x x x 34, T x x x x x x x 35, T x x x x x x x 36, T x x x x x x x 37, T x x x x x x x 38, T x x x x x x x 39
  , T x x x x x x x 40, T x x x x x x x 41, T x x x x x x x 42, T x x x x x x x 43, T x x x x x x x 44, T x x x x x x x 45, T x x x x x x x 46, T x x x x x x x 47
  , T x x x x x x x 48, T x x x x x x x 49, T x x x x x x x 50, T x x x x x x x 51, T x x x x x x x 52, T x x x x x x x 53, T x x x x x x x 54, T x x x x x x x 55
  , T x x x x x x x 56, T x x x x x x x 57, T x x x x x x x 58, T x x x x x x x 59, T x x x x x x x 60, T x x x x x x x 61, T x x x x x x x 62, T x x x x x x x 63
  , T x x x x x x x 64, T x x x x x x x 65, T x x x x x x x 66, T x x x x x x x 67, T x x x x x x x 68, T x x x x x x x 69, T x x x x x x x 70, T x x x x x x x 71
  , T x x x x x x x 72, T x x x x x x x 73, T x x x x x x x 74, T x x x x x x x 75, T x x x x x x x 76, T x x x x x x x 77, T x x x x x x x 78, T x x x x x x x 79
  , T x x x x x x x 80, T x x x x x x x 81, T x x x x x x x 82, T x x x x x x x 83, T x x x x x x x 84, T x x x x x x x 85, T x x x x x x x 86, T x x x x x x x 87
  , T x x x x x x x 88, T x x x x x x x 89, T x x x x x x x 90, T x x x x x x x 91, T x x x x x x x 92, T x x x x x x x 93, T x x x x x x x 94, T x x x x x x x 95
  , T x x x x x x x 96, T x x x x x x x 97, T x x x x x x x 98, T x x x x x x x 99, T x x x x x x x 100, T x x x x x x x 101, T x x x x x x x 102, T x x x x x x x 103
  , T x x x x x x x 104, T x x x x x x x 105, T x x x x x x x 106, T x x x x x x x 107, T x x x x x x x 108, T x x x x x x x 109, T x x x x x x x 110, T x x x x x x x 111
  , T x x x x x x x 112, T x x x x x x x 113, T x x x x x x x 114, T x x x x x x x 115, T x x x x x x x 116, T x x x x x x x 117, T x x x x x x x 118, T x x x x x x x 119
  , T x x x x x x x 120, T x x x x x x x 121, T x x x x x x x 122, T x x x x x x x 123, T x x x x x x x 124, T x x x x x x x 125, T x x x x x x x 126, T x x x x x x x 127
  , T x x x x x x x 128, T x x x x x x x 129, T x x x x x x x 130, T x x x x x x x 131, T x x x x x x x 132, T x x x x x x x 133, T x x x x x x x 134, T x x x x x x x 135
  , T x x x x x x x 136, T x x x x x x x 137, T x x x x x x x 138, T x x x x x x x 139, T x x x x x x x 140, T x x x x x x x 141, T x x x x x x x 142, T x x x x x x x 143
  , T x x x x x x x 144, T x x x x x x x 145, T x x x x x x x 146, T x x x x x x x 147, T x x x x x x x 148, T x x x x x x x 149, T x x x x x x x 150, T x x x x x x x 151
  , T x x x x x x x 152, T x x x x x x x 153, T x x x x x x x 154, T x x x x x x x 155, T x x x x x x x 156, T x x x x x x x 157, T x x x x x x x 158, T x x x x x x x 159
  , T x x x x x x x 160, T x x x x x x x 161, T x x x x x x x 162, T x x x x x x x 163, T x x x x x x x 164, T x x x x x x x 165, T x x x x x x x 166, T x x x x x x x 167
  , T x x x x x x x 168, T x x x x x x x 169, T x x x x x x x 170, T x x x x x x x 171, T x x x x x x x 172, T x x x x x x x 173, T x x x x x x x 174, T x x x x x x x 175
  , T x x x x x x x 176, T x x x x x x x 177, T x x x x x x x 178, T x x x x x x x 179, T x x x x x x x 180, T x x x x x x x 181, T x x x x x x x 182, T x x x x x x x 183
  , T x x x x x x x 184, T x x x x x x x 185, T x x x x x x x 186, T x x x x x x x 187, T x x x x x x x 188, T x x x x x x x 189, T x x x x x x x 190, T x x x x x x x 191
  , T x x x x x x x 192, T x x x x x x x 193, T x x x x x x x 194, T x x x x x x x 195, T x x x x x x x 196, T x x x x x x x 197, T x x x x x x x 198, T x x x x x x x 199
  , T x x x x x x x 200, T x x x x x x x 201, T x x x x x x x 202, T x x x x x x x 203, T x x x x x x x 204, T x x x x x x x 205, T x x x x x x x 206, T x x x x x x x 207
  , T x x x x x x x 208, T x x x x x x x 209, T x x x x x x x 210, T x x x x x x x 211, T x x x x x x x 212, T x x x x x x x 213, T x x x x x x x 214, T x x x x x x x 215
  , T x x x x x x x 216, T x x x x x x x 217, T x x x x x x x 218, T x x x x x x x 219, T x x x x x x x 220, T x x x x x x x 221, T x x x x x x x 222, T x x x x x x x 223
  , T x x x x x x x 224, T x x x x x x x 225, T x x x x x x x 226, T x x x x x x x 227, T x x x x x x x 228, T x x x x x x x 229, T x x x x x x x 230, T x x x x x x x 231
  , T x x x x x x x 232, T x x x x x x x 233, T x x x x x x x 234, T x x x x x x x 235, T x x x x x x x 236, T x x x x x x x 237, T x x x x x x x 238, T x x x x x x x 239
  , T x x x x x x x 240, T x x x x x x x 241, T x x x x x x x 242, T x x x x x x x 243, T x x x x x x x 244, T x x x x x x x 245, T x x x x x x x 246, T x x x x x x x 247
  , T x x x x x x x 248, T x x x x x x x 249, T x x x x x x x 250, T x x x x x x x 251, T x x x x x x x 252, T x x x x x x x 253, T x x x x x x x 254, T x x x x x x x 255
  , T x x x x x x x 256, T x x x x x x x 257, T x x x x x x x 258, T x x x x x x x 259, T x x x x x x x 260, T x x x x x x x 261, T x x x x x x x 262, T x x x x x x x 263
  , T x x x x x x x 264, T x x x x x x x 265, T x x x x x x x 266, T x x x x x x x 267, T x x x x x x x 268, T x x x x x x x 269, T x x x x x x x 270, T x x x x x x x 271
  , T x x x x x x x 272, T x x x x x x x 273, T x x x x x x x 274, T x x x x x x x 275, T x x x x x x x 276, T x x x x x x x 277, T x x x x x x x 278, T x x x x x x x 279
  , T x x x x x x x 280, T x x x x x x x 281, T x x x x x x x 282, T x x x x x x x 283, T x x x x x x x 284, T x x x x x x x 285, T x x x x x x x 286, T x x x x x x x 287
  , T x x x x x x x 288, T x x x x x x x 289, T x x x x x x x 290, T x x x x x x x 291, T x x x x x x x 292, T x x x x x x x 293, T x x x x x x x 294, T x x x x x x x 295
  , T x x x x x x x 296, T x x x x x x x 297, T x x x x x x x 298, T x x x x x x x 299, T x x x x x x x 300, T x x x x x x x 301, T x x x x x x x 302, T x x x x x x x 303
  , T x x x x x x x 304, T x x x x x x x 305, T x x x x x x x 306, T x x x x x x x 307, T x x x x x x x 308, T x x x x x x x 309, T x x x x x x x 310, T x x x x x x x 311
  , T x x x x x x x 312, T x x x x x x x 313, T x x x x x x x 314, T x x x x x x x 315, T x x x x x x x 316, T x x x x x x x 317, T x x x x x x x 318, T x x x x x x x 319
  , T x x x x x x x 320, T x x x x x x x 321, T x x x x x x x 322, T x x x x x x x 323, T x x x x x x x 324, T x x x x x x x 325, T x x x x x x x 326, T x x x x x x x 327
  , T x x x x x x x 328, T x x x x x x x 329, T x x x x x x x 330, T x x x x x x x 331, T x x x x x x x 332, T x x x x x x x 333, T x x x x x x x 334, T x x x x x x x 335
  , T x x x x x x x 336, T x x x x x x x 337, T x x x x x x x 338, T x x x x x x x 339, T x x x x x x x 340, T x x x x x x x 341, T x x x x x x x 342, T x x x x x x x 343
  , T x x x x x x x 344, T x x x x x x x 345, T x x x x x x x 346, T x x x x x x x 347, T x x x x x x x 348, T x x x x x x x 349, T x x x x x x x 350, T x x x x x x x 351
  , T x x x x x x x 352, T x x x x x x x 353, T x x x x x x x 354, T x x x x x x x 355, T x x x x x x x 356, T x x x x x x x 357, T x x x x x x x 358, T x x x x x x x 359
  , T x x x x x x x 360, T x x x x x x x 361, T x x x x x x x 362, T x x x x x x x 363, T x x x x x x x 364, T x x x x x x x 365, T x x x x x x x 366, T x x x x x x x 367
  , T x x x x x x x 368, T x x x x x x x 369, T x x x x x x x 370, T x x x x x x x 371, T x x x x x x x 372, T x x x x x x x 373, T x x x x x x x 374, T x x x x x x x 375
  , T x x x x x x x 376, T x x x x x x x 377, T x x x x x x x 378, T x x x x x x x 379, T x x x x x x x 380, T x x x x x x x 381, T x x x x x x x 382, T x x x x x x x 383
  , T x x x x x x x 384, T x x x x x x x 385, T x x x x x x x 386, T x x x x x x x 387, T x x x x x x x 388, T x x x x x x x 389, T x x x x x x x 390, T x x x x x x x 391
  , T x x x x x x x 392, T x x x x x x x 393, T x x x x x x x 394, T x x x x x x x 395, T x x x x x x x 396, T x x x x x x x 397, T x x x x x x x 398, T x x x x x x x 399
  , T x x x x x x x 400, T x x x x x x x 401, T x x x x x x x 402, T x x x x x x x 403, T x x x x x x x 404, T x x x x x x x 405, T x x x x x x x 406, T x x x x x x x 407
  , T x x x x x x x 408, T x x x x x x x 409, T x x x x x x x 410, T x x x x x x x 411, T x x x x x x x 412, T x x x x x x x 413, T x x x x x x x 414, T x x x x x x x 415
  , T x x x x x x x 416, T x x x x x x x 417, T x x x x x x x 418, T x x x x x x x 419, T x x x x x x x 420, T x x x x x x x 421, T x x x x x x x 422, T x x x x x x x 423
  , T x x x x x x x 424, T x x x x x x x 425, T x x x x x x x 426, T x x x x x x x 427, T x x x x x x x 428, T x x x x x x x 429, T x x x x x x x 430, T x x x x x x x 431
  , T x x x x x x x 432, T x x x x x x x 433, T x x x x x x x 434, T x x x x x x x 435, T x x x x x x x 436, T x x x x x x x 437, T x x x x x x x 438, T x x x x x x x 439
  , T x x x x x x x 440, T x x x x x x x 441, T x x x x x x x 442, T x x x x x x x 443, T x x x x x x x 444, T x x x x x x x 445, T x x x x x x x 446, T x x x x x x x 447
  , T x x x x x x x 448, T x x x x x x x 449, T x x x x x x x 450, T x x x x x x x 451, T x x x x x x x 452, T x x x x x x x 453, T x x x x x x x 454, T x x x x x x x 455
  , T x x x x x x x 456, T x x x x x x x 457, T x x x x x x x 458, T x x x x x x x 459, T x x x x x x x 460, T x x x x x x x 461, T x x x x x x x 462, T x x x x x x x 463
  , T x x x x x x x 464, T x x x x x x x 465, T x x x x x x x 466, T x x x x x x x 467, T x x x x x x x 468, T x x x x x x x 469, T x x x x x x x 470, T x x x x x x x 471
  , T x x x x x x x 472, T x x x x x x x 473, T x x x x x x x 474, T x x x x x x x 475, T x x x x x x x 476, T x x x x x x x 477, T x x x x x x x 478, T x x x x x x x 479
  , T x x x x x x x 480, T x x x x x x x 481, T x x x x x x x 482, T x x x x x x x 483, T x x x x x x x 484, T x x x x x x x 485, T x x x x x x x 486, T x x x x x x x 487
  , T x x x x x x x 488, T x x x x x x x 489, T x x x x x x x 490, T x x x x x x x 491, T x x x x x x x 492, T x x x x x x x 493, T x x x x x x x 494, T x x x x x x x 495
  , T x x x x x x x 496, T x x x x x x x 497, T x x x x x x x 498, T x x x x x x x 499, T x x x x x x x 500, T x x x x x x x 501, T x x x x x x x 502, T x x x x x x x 503
  , T x x x x x x x 504, T x x x x x x x 505, T x x x x x x x 506, T x x x x x x x 507, T x x x x x x x 508, T x x x x x x x 509, T x x x x x x x 510, T x x x x x x x 511
  , T x x x x x x x 512, T x x x x x x x 513, T x x x x x x x 514, T x x x x x x x 515, T x x x x x x x 516, T x x x x x x x 517, T x x x x x x x 518, T x x x x x x x 519
  , T x x x x x x x 520, T x x x x x x x 521, T x x x x x x x 522, T x x x x x x x 523, T x x x x x x x 524, T x x x x x x x 525, T x x x x x x x 526, T x x x x x x x 527
  , T x x x x x x x 528, T x x x x x x x 529, T x x x x x x x 530, T x x x x x x x 531, T x x x x x x x 532, T x x x x x x x 533, T x x x x x x x 534, T x x x x x x x 535
  , T x x x x x x x 536, T x x x x x x x 537, T x x x x x x x 538, T x x x x x x x 539, T x x x x x x x 540, T x x x x x x x 541, T x x x x x x x 542, T x x x x x x x 543
  , T x x x x x x x 544, T x x x x x x x 545, T x x x x x x x 546, T x x x x x x x 547, T x x x x x x x 548, T x x x x x x x 549, T x x x x x x x 550, T x x x x x x x 551
  , T x x x x x x x 552, T x x x x x x x 553, T x x x x x x x 554, T x x x x x x x 555, T x x x x x x x 556, T x x x x x x x 557, T x x x x x x x 558, T x x x x x x x 559
  , T x x x x x x x 560, T x x x x x x x 561, T x x x x x x x 562, T x x x x x x x 563, T x x x x x x x 564, T x x x x x x x 565, T x x x x x x x 566, T x x x x x x x 567
  , T x x x x x x x 568, T x x x x x x x 569, T x x x x x x x 570, T x x x x x x x 571, T x x x x x x x 572, T x x x x x x x 573, T x x x x x x x 574, T x x x x x x x 575
  , T x x x x x x x 576, T x x x x x x x 577, T x x x x x x x 578, T x x x x x x x 579, T x x x x x x x 580, T x x x x x x x 581, T x x x x x x x 582, T x x x x x x x 583
  , T x x x x x x x 584, T x x x x x x x 585, T x x x x x x x 586, T x x x x x x x 587, T x x x x x x x 588, T x x x x x x x 589, T x x x x x x x 590, T x x x x x x x 591
  , T x x x x x x x 592, T x x x x x x x 593, T x x x x x x x 594, T x x x x x x x 595, T x x x x x x x 596, T x x x x x x x 597, T x x x x x x x 598, T x x x x x x x 599
  , T x x x x x x x 600, T x x x x x x x 601, T x x x x x x x 602, T x x x x x x x 603, T x x x x x x x 604, T x x x x x x x 605, T x x x x x x x 606, T x x x x x x x 607
  , T x x x x x x x 608, T x x x x x x x 609, T x x x x x x x 610, T x x x x x x x 611, T x x x x x x x 612, T x x x x x x x 613, T x x x x x x x 614, T x x x x x x x 615
  , T x x x x x x x 616, T x x x x x x x 617, T x x x x x x x 618, T x x x x x x x 619, T x x x x x x x 620, T x x x x x x x 621, T x x x x x x x 622, T x x x x x x x 623
  , T x x x x x x x 624, T x x x x x x x 625, T x x x x x x x 626, T x x x x x x x 627, T x x x x x x x 628, T x x x x x x x 629, T x x x x x x x 630, T x x x x x x x 631
  , T x x x x x x x 632, T x x x x x x x 633, T x x x x x x x 634, T x x x x x x x 635, T x x x x x x x 636, T x x x x x x x 637, T x x x x x x x 638, T x x x x x x x 639
  ]
{-# NOINLINE several #-}

main :: IO ()
main = do
  print (sum [sum (map ends (several i)) | i <- [1 .. 200]])
  -- Others that want little run between.
  done <- replicateM 4 newEmptyMVar
  forM_ (zip [1 ..] done) $ \(k, v) -> forkIO $ putMVar v $! sum [sum (map ends (take (if even k then 640 else 1) (several i))) | i <- [k .. k + 100]]
  mapM takeMVar done >>= print
