export {
  type AssembledPrompt,
  type EnforcedParts,
  enforceAudience,
  type LayerReport,
  type SystemPart,
  type UserPart,
} from './assembled-prompt.ts';
export {
  type AssemblerOptions,
  createAssembler,
  declaredReads,
  type PromptAdditions,
  type PromptAssembler,
} from './assembler.ts';
export { type ChannelFormats, readChannelFormats } from './channel-formats.ts';
export type { ContextSource, TurnAtHand } from './context-source.ts';
export {
  firstSet,
  IDENTITY_FILE,
  type Identity,
  type IdentitySource,
  identityOf,
  readIdentity,
} from './identity.ts';
export {
  comparePrompts,
  type PartComparison,
  type PromptComparison,
  type PromptSize,
} from './inspect/compare-prompts.ts';
export { compareTexts, type TextPiece } from './inspect/compare-texts.ts';
export { type SentParts, sentPromptOf } from './inspect/sent-prompt-of.ts';
export { inspectPrompt } from './inspect-prompt.ts';
export {
  type Absent,
  absent,
  type Layer,
  type LayerId,
  type LayerOptions,
  type LayerPart,
  type Placement,
  type Volatility,
} from './layer.ts';
export { createLayerRegistry, type LayerRegistry } from './layer-registry.ts';
export { houseLayers } from './layers/house-layers.ts';
export { messageContext } from './layers/message-context-layer.ts';
export { capUntrusted, frameUntrusted, quoteUntrusted } from './layers/untrusted-text.ts';
export type { Layout, LayoutEntry } from './layout.ts';
export { layoutNamed } from './layouts/house-layouts.ts';
export { type Character, characterSource } from './profiles/character-source.ts';
export type { NamedText } from './profiles/named-text.ts';
export type {
  FixForSession,
  OverheardWords,
  PromptContext,
  PromptMode,
} from './prompt-context.ts';
export { PromptError, type PromptErrorCode } from './prompt-error.ts';
export type {
  AttachmentNote,
  ConnectorNote,
  HeartbeatNote,
  McpPromptNote,
  PromptFeatures,
  ResourceNote,
  SandboxNote,
  TodoNote,
  ToolNote,
  ToolTier,
} from './prompt-features.ts';
