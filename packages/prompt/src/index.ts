export {
  type AssembledPrompt,
  type EnforcedParts,
  enforceAudience,
  fencedContext,
  type LayerReport,
  type SentParts,
  type SystemPart,
  sentPromptOf,
  type UserPart,
} from './assembled-prompt.ts';
export {
  type AssemblerOptions,
  createAssembler,
  declaredReads,
  type PromptAdditions,
  type PromptAssembler,
} from './assembler.ts';
export {
  comparePrompts,
  compareTexts,
  type PartComparison,
  type PromptComparison,
  type PromptSize,
  type TextPiece,
} from './compare-prompts.ts';
export { withSwitches } from './context-blocks.ts';
export {
  type Character,
  characterSource,
  firstSet,
  IDENTITY_FILE,
  type IdentitySource,
  identityOf,
  type NamedText,
  readIdentity,
} from './identity.ts';
export {
  type Absent,
  type AttachmentNote,
  absent,
  type ConnectorNote,
  type ContextSource,
  type FixForSession,
  type GroupMessage,
  type HeartbeatNote,
  type Identity,
  type Layer,
  type LayerId,
  type LayerOptions,
  type LayerPart,
  type McpPromptNote,
  type Placement,
  type PromptContext,
  PromptError,
  type PromptErrorCode,
  type PromptFeatures,
  type PromptMode,
  type ResourceNote,
  type SandboxNote,
  type SourceTurn,
  type TodoNote,
  type ToolNote,
  type ToolTier,
  type TurnLimitsNote,
  type Volatility,
} from './layer.ts';
export { EXPECTED_ABILITIES } from './layers/tools.ts';
export { messageContext } from './layers/turn.ts';
export {
  builtInLayers,
  type ChannelFormats,
  createLayerRegistry,
  type LayerRegistry,
  type Layout,
  type LayoutEntry,
  readChannelFormats,
  withFileLimits,
} from './layout.ts';
export { layoutNamed } from './layouts.ts';
export { capUntrusted, frameUntrusted, quoteUntrusted } from './text.ts';
