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
export type { NamedText } from './character.ts';
export { type Character, characterSource } from './character.ts';
export {
  comparePrompts,
  compareTexts,
  type PartComparison,
  type PromptComparison,
  type PromptSize,
  type TextPiece,
} from './compare-prompts.ts';
export type {
  AttachmentNote,
  ConnectorNote,
  ContextSource,
  FixForSession,
  GroupMessage,
  HeartbeatNote,
  McpPromptNote,
  PromptContext,
  PromptFeatures,
  PromptMode,
  ResourceNote,
  SandboxNote,
  TodoNote,
  ToolNote,
  ToolTier,
  TurnAtHand,
} from './context.ts';
export {
  firstSet,
  IDENTITY_FILE,
  type Identity,
  type IdentitySource,
  identityOf,
  readIdentity,
} from './identity.ts';
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
export { houseLayers } from './layers/house-layers.ts';
export { messageContext } from './layers/turn.ts';
export type { Layout, LayoutEntry } from './layout.ts';
export { createLayerRegistry, type LayerRegistry } from './layout.ts';
export { layoutNamed } from './layouts.ts';
export { PromptError, type PromptErrorCode } from './prompt-error.ts';
export { type SentParts, sentPromptOf } from './sent-prompt.ts';
export { capUntrusted, frameUntrusted, quoteUntrusted } from './text.ts';
