export {
  type AssembledPrompt,
  type AudienceCheckResult,
  enforceAudience,
  fenceContext,
  type LayerReport,
  type SentPartCache,
  type SystemPart,
  toSentPrompt,
  type UserPart,
} from './assembled-prompt.ts';
export {
  type AssemblerOptions,
  createPromptAssembler,
  type HookPromptParts,
  listDeclaredReads,
  type PromptAssembler,
} from './assembler.ts';
export {
  comparePrompts,
  type PartComparison,
  type PromptComparison,
  type PromptSize,
} from './compare-prompts.ts';
export { compareTexts, type TextPiece } from './compare-texts.ts';
export { applyContextSwitches } from './context-blocks.ts';
export {
  createPersonaSource,
  IDENTITY_FILE,
  type IdentitySource,
  mergeIdentityFields,
  type NamedText,
  type PersonaSettings,
  readIdentity,
  resolveIdentity,
} from './identity.ts';
export {
  type Absent,
  type AttachmentNote,
  type ConnectorNote,
  type ContextSource,
  createAbsent,
  type GroupMessage,
  type HeartbeatNote,
  type Identity,
  type Layer,
  type LayerId,
  type LayerOptions,
  type LayerPart,
  type McpPromptNote,
  type PinForSession,
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
export { EXPECTED_ABILITIES, OPEN_TOOLS } from './layers/tools.ts';
export { formatMessageContext } from './layers/turn.ts';
export {
  applyFileLimits,
  type ChannelFormats,
  createBuiltInLayers,
  createLayerRegistry,
  type LayerRegistry,
  type Layout,
  type LayoutEntry,
  readChannelFormats,
} from './layout.ts';
export { getLayout } from './layouts.ts';
export { frameUntrusted, quoteUntrusted, truncateUntrusted } from './text.ts';
