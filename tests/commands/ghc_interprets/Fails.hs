{-# LANGUAGE TemplateHaskell #-}
module Fails where

x :: Int
x = $(error "no such thing")
