-- pandoc's library reads a long Markdown document and writes it as HTML and LaTeX, and the HTML as Markdown again.
-- needs: pandoc
-- args: 60
-- timeout: 120
{-# LANGUAGE OverloadedStrings #-}
import qualified Data.Text as T
import System.Environment
import Text.Pandoc

chapter :: Int -> T.Text
chapter i = T.unlines
  [ "# Chapter " <> v <> " {#c" <> v <> "}", "", "Some *emphasis*, **strong**, `code`, a [link](http://example.org/" <> v <> " \"title\") and a note[^" <> v <> "]."
  , "", "[^" <> v <> "]: The note's text, with $x^2 + \\sqrt{y}$.", "", "* one", "* two", "    1. inner", "    2. more", "", "| a | b |", "|---|--:|", "| 1 | " <> v <> " |", "| x | y |"
  , "", "```haskell", "main = print (map (+ 1) [1 .. " <> v <> "]) -- comment", "```", "", "> A quotation", "> in two lines", ""
  , "Term", ":   Definition λ →", "", T.unwords (replicate 12 "Ordinary words in a long paragraph, \"quoted\" -- with dashes..."), "" ]
  where v = T.pack (show i)

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  let text = T.concat (map chapter [1 .. n])
  let sizes = runPure $ do
        doc <- readMarkdown def { readerExtensions = pandocExtensions } text
        html <- writeHtml5String def { writerExtensions = pandocExtensions } doc
        latex <- writeLaTeX def doc
        back <- readHtml def html >>= writeMarkdown def { writerExtensions = pandocExtensions }
        return (map T.length [html, latex, back])
  either print print sizes
