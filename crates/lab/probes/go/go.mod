module hotset/probe

go 1.19
