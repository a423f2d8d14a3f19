// NetworkPolicies on one node of a lab: the first packet of every connection of its pods waits until
// kube-network-policies has said whether it may go on.
//
// That project's own program asks for nftables' `queue`, which not every kernel has been built with. The target of iptables
// that does the same has been in kernels for longer, and nftables can use it; so only the rules are our own.
package main

import (
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"log"
	"net/netip"
	"os/signal"
	"syscall"
	"time"

	nfqueue "github.com/florianl/go-nfqueue/v2"
	"github.com/google/nftables"
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"github.com/google/nftables/xt"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/kube-network-policies/pkg/api"
	"sigs.k8s.io/kube-network-policies/pkg/network"
	"sigs.k8s.io/kube-network-policies/pkg/networkpolicy"
	"sigs.k8s.io/kube-network-policies/pkg/podinfo"
)

const (
	queue       = 100
	headers     = 128 // bytes of a packet that say where it comes from and goes to
	known       = 2 * time.Second
	tryAgain    = 50 * time.Millisecond
	sourceField = 12 // where in the header of IPv4 the sender's address is
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "how to reach the API server")
	node := flag.String("hostname-override", "", "the node's name")
	pods := flag.String("cluster-cidr", "", "the network of all pods")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := enforce(ctx, *kubeconfig, *node, *pods); err != nil {
		log.Fatal(err)
	}
}

func enforce(ctx context.Context, kubeconfig, node, pods string) error {
	cidr, err := netip.ParsePrefix(pods)
	if err != nil {
		return err
	}
	engine, provider, err := follow(ctx, kubeconfig, node)
	if err != nil {
		return err
	}
	queued, err := nfqueue.Open(&nfqueue.Config{
		NfQueue:      queue,
		Flags:        nfqueue.NfQaCfgFlagGSO,
		MaxPacketLen: headers,
		MaxQueueLen:  4096,
		Copymode:     nfqueue.NfQnlCopyPacket,
		WriteTimeout: 100 * time.Millisecond,
	})
	if err != nil {
		return fmt.Errorf("nfqueue: %w", err)
	}
	defer queued.Close()
	decide := func(a nfqueue.Attribute) int {
		// Each on its own: one that waits holds nobody up.
		go func(id uint32, payload []byte) {
			verdict := nfqueue.NfDrop
			if allowed(ctx, engine, provider, cidr, payload) {
				verdict = nfqueue.NfAccept
			}
			if err := queued.SetVerdict(id, verdict); err != nil {
				log.Printf("packet %d: %v", id, err)
			}
		}(*a.PacketID, *a.Payload)
		return 0
	}
	failed := func(err error) int {
		if ctx.Err() == nil {
			log.Printf("nfqueue: %v", err)
		}
		return 0
	}
	if err := queued.RegisterWithErrorFunc(ctx, decide, failed); err != nil {
		return fmt.Errorf("nfqueue: %w", err)
	}
	// Last, and they stay: while nobody decides, no connection begins.
	if err := rules(cidr); err != nil {
		return fmt.Errorf("nftables: %w", err)
	}
	log.Printf("enforcing NetworkPolicies on node %s", node)
	<-ctx.Done()
	return nil
}

// follow returns when all pods, namespaces and policies are known, and goes on to watch them.
func follow(ctx context.Context, kubeconfig, node string) (*networkpolicy.PolicyEngine, api.PodInfoProvider, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, nil, err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, nil, err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	pods, namespaces := factory.Core().V1().Pods(), factory.Core().V1().Namespaces()
	resolver, err := podinfo.NewInformerResolver(pods.Informer())
	if err != nil {
		return nil, nil, err
	}
	provider := podinfo.NewInformerProvider(pods, namespaces, nil, []podinfo.IPResolver{resolver})
	policies := networkpolicy.NewStandardNetworkPolicy(node, namespaces, pods, factory.Networking().V1().NetworkPolicies())
	factory.Start(ctx.Done())
	for kind, synced := range factory.WaitForCacheSync(ctx.Done()) {
		if !synced {
			return nil, nil, fmt.Errorf("could not list %v", kind)
		}
	}
	return networkpolicy.NewPolicyEngine(provider, []api.PolicyEvaluator{policies}), provider, nil
}

// allowed waits for a pod that has begun to speak before the API server knows its address: the sender would otherwise try
// again only after a second.
func allowed(ctx context.Context, engine *networkpolicy.PolicyEngine, provider api.PodInfoProvider, pods netip.Prefix,
	payload []byte) bool {
	packet, err := network.ParsePacket(payload)
	if err != nil {
		log.Printf("a packet that cannot be read is dropped: %v", err)
		return false
	}
	source, _ := netip.AddrFromSlice(packet.SrcIP.To4())
	for deadline := time.Now().Add(known); pods.Contains(source) && time.Now().Before(deadline); time.Sleep(tryAgain) {
		if _, found := provider.GetPodInfoByIP(source.String()); found {
			break
		}
	}
	verdict, err := engine.EvaluatePacket(ctx, &packet)
	if err != nil {
		log.Printf("could not decide: %v", err)
	} else if !verdict {
		log.Printf("dropped: %s from %v to %v port %d", packet.Proto, packet.SrcIP, packet.DstIP, packet.DstPort)
	}
	return verdict && err == nil
}

// rules sends what begins a connection to the queue: what is on its way through the node, from or to a pod; and what pods
// send to the node itself. What the node's own programs send is theirs: the kubelet's probes above all.
func rules(pods netip.Prefix) error {
	conn, err := nftables.New()
	if err != nil {
		return err
	}
	table := &nftables.Table{Family: nftables.TableFamilyIPv4, Name: "network-policies"}
	conn.AddTable(table)
	conn.DelTable(table) // of an earlier start, in the same transaction
	conn.AddTable(table)
	hooks := map[string]*nftables.ChainHook{"forward": nftables.ChainHookForward, "input": nftables.ChainHookInput}
	for name, hook := range hooks {
		chain := conn.AddChain(&nftables.Chain{
			Name:     name,
			Table:    table,
			Type:     nftables.ChainTypeFilter,
			Hooknum:  hook,
			Priority: nftables.ChainPriorityFilter,
		})
		matches := begins()
		if name == "input" {
			matches = append(from(pods), matches...)
		}
		conn.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: append(matches, toQueue())})
	}
	return conn.Flush()
}

// begins: ct state new
func begins() []expr.Any {
	state := binaryutil.NativeEndian.PutUint32(expr.CtStateBitNEW)
	return []expr.Any{
		&expr.Ct{Register: 1, Key: expr.CtKeySTATE},
		&expr.Bitwise{SourceRegister: 1, DestRegister: 1, Len: 4, Mask: state, Xor: make([]byte, 4)},
		&expr.Cmp{Op: expr.CmpOpNeq, Register: 1, Data: make([]byte, 4)},
	}
}

// from: ip saddr <pods>
func from(pods netip.Prefix) []expr.Any {
	mask := binaryutil.BigEndian.PutUint32(^uint32(0) << (32 - pods.Bits()))
	return []expr.Any{
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseNetworkHeader, Offset: sourceField, Len: 4},
		&expr.Bitwise{SourceRegister: 1, DestRegister: 1, Len: 4, Mask: mask, Xor: make([]byte, 4)},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: pods.Masked().Addr().AsSlice()},
	}
}

// toQueue: the NFQUEUE target, by the third revision of what the kernel reads: queue, how many of them, flags, padding.
func toQueue() expr.Any {
	info := make(xt.Unknown, 8)
	binary.NativeEndian.PutUint16(info[0:], queue)
	binary.NativeEndian.PutUint16(info[2:], 1)
	return &expr.Target{Name: "NFQUEUE", Rev: 3, Info: &info}
}
