-- pandoc's library: Markdown with tables, notes, code, mathematics and lists, converted to HTML, LaTeX and plain text.
-- needs: pandoc
-- timeout: 180
{-# LANGUAGE OverloadedStrings #-}
import qualified Data.Text as T
import qualified Data.Text.IO as TIO
import Text.Pandoc

document :: T.Text
document = T.unlines
  [ "---", "title: A *small* document", "author: Somebody", "---", "", "# First heading {#first}", "", "Some *emphasis*, **strong**, `code`, a [link](http://example.org \"title\") and a note[^1].", ""
  , "[^1]: The note's text.", "", "* one", "* two", "    1. inner", "    2. more", "", "| a | b |", "|---|--:|", "| 1 | 2 |", "| x | y |", "", "```haskell", "main = print (map (+ 1) [1 .. 3]) -- comment", "```", ""
  , "> A quotation", "> in two lines", "", "Mathematics $x^2 + \\sqrt{y}$ and \"quotes\" -- with dashes...", "", "## Second", "", "Term", ":   Definition λ →", "" ]

main :: IO ()
main = do
  let big = T.concat (document : replicate 30 (T.unlines (drop 5 (T.lines document))))
  r <- runIO $ do
    doc <- readMarkdown def { readerExtensions = pandocExtensions } document
    html <- writeHtml5String def { writerExtensions = pandocExtensions } doc
    latex <- writeLaTeX def doc
    plain <- writePlain def doc
    large <- readMarkdown def { readerExtensions = pandocExtensions } big >>= writeHtml5String def
    back <- readHtml def html >>= writeMarkdown def { writerExtensions = pandocExtensions }
    return (html, latex, plain, T.length large, back)
  case r of
    Left e -> print e
    Right (html, latex, plain, n, back) -> do
      TIO.putStrLn html
      TIO.putStrLn latex
      TIO.putStrLn plain
      print n
      TIO.putStrLn back
