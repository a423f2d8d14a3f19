// The process that holds a pod's namespaces open.
module slipway/lab/pause

go 1.25.0
