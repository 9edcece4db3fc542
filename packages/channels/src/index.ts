export type {
  ChannelAdapter,
  ChannelContext,
  ChannelDefinition,
  ChannelState,
  ChatAddress,
  HttpFacet,
  StreamingFacet,
} from './adapter.ts';
export type { IngressOutcome } from './ingress/outcome.ts';
