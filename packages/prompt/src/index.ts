export {
  type AssembledPrompt,
  type EnforcedParts,
  enforceAudience,
  fenceContext as fencedContext,
  type LayerReport,
  type SentParts,
  type SystemPart,
  toSentPrompt as sentPromptOf,
  type UserPart,
} from './assembled-prompt.ts';
export {
  type AssemblerOptions,
  createAssembler,
  listDeclaredReads as declaredReads,
  type PromptAdditions,
  type PromptAssembler,
} from './assembler.ts';
export {
  comparePrompts,
  type PartComparison,
  type PromptComparison,
  type PromptSize,
} from './compare-prompts.ts';
export { compareTexts, type TextPiece } from './compare-texts.ts';
export { applySwitches as withSwitches } from './context-blocks.ts';
export {
  createPersonaSource as characterSource,
  IDENTITY_FILE,
  type IdentitySource,
  mergeIdentityFields as firstSet,
  type NamedText,
  type PersonaSettings as Character,
  readIdentity,
  resolveIdentity as identityOf,
} from './identity.ts';
export {
  type Absent,
  type AttachmentNote,
  type ConnectorNote,
  type ContextSource,
  createAbsent as absent,
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
export { formatMessageContext as messageContext } from './layers/turn.ts';
export {
  applyFileLimits as withFileLimits,
  type ChannelFormats,
  createBuiltInLayers as builtInLayers,
  createLayerRegistry,
  type LayerRegistry,
  type Layout,
  type LayoutEntry,
  readChannelFormats,
} from './layout.ts';
export { getLayout as layoutNamed } from './layouts.ts';
export { capUntrusted, frameUntrusted, quoteUntrusted } from './text.ts';
