// The module `parley/plugin`: everything that the author of a plugin or a channel needs. The
// module's types are published in one file (`apps/parley/src/build/types`), so a name must be
// exported here only if a plugin has to write it.
export {
  defineTool,
  type Tool,
  type ToolCall,
  type ToolOutcome,
  type TurnAdditions,
  type TurnClosing,
  type TurnHook,
} from '@parley/agent';
export {
  type ChannelAdapter,
  type ChannelContext,
  type ChannelDefinition,
  type ChannelState,
  type ChatAddress,
  type CommandInfo,
  callOutcome,
  type FilesCapability,
  type GrowingAnswer,
  guarded,
  type HttpCapability,
  type IgnoredEvent,
  type IngressOutcome,
  type MenuLimits,
  type MessageCapability,
  type Revision,
  type SecretDoor,
  type SenderFacts,
  type StreamingCapability,
  type StreamPace,
  withoutNulls,
} from '@parley/channels';
export type { ChannelProbe, ProbeEnv } from '@parley/channels/probe';
export {
  type AdapterValue,
  type AdapterValues,
  type Attachment,
  type Audience,
  type Button,
  type Capabilities,
  ChannelError,
  type ChannelFailure,
  type ChannelIds,
  type Clock,
  getOutboundFilePath as outboundFilePath,
  type IdForm,
  type InboundMessage,
  type InboundReaction,
  type Logger,
  type OutboundFile,
  type OutboundPart,
  ParleyError,
  type PromptPart,
  type Reader,
  type Receipt,
  type RenderedPart,
  type ReplyRoute,
  type RuntimeFacts,
  reasonOf,
} from '@parley/core';
export {
  type ContextSource,
  createAbsent as absent,
  type Layer,
  type LayerPart,
  type PromptContext,
  type PromptFeatures,
} from '@parley/prompt';
export type { WorkspaceView } from '@parley/workspace';
export { z } from 'zod';
export { defineChannel } from './define-channel.ts';
export {
  definePlugin,
  type Plugin,
  type PluginHost,
  type PluginLayer,
  type PluginParts,
} from './plugin.ts';
