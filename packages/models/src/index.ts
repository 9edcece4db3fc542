export { type AnswerLimits, DEFAULT_ANSWER_BOUNDS } from './answer-bounds.ts';
export {
  type HiddenAnswerParts,
  type ExceededAnswerLimit,
  type AssistantMessage,
  type ChatModel,
  ModelError,
  type ModelEvent,
  type ModelFailure,
  type ModelFinish,
  type ModelImage,
  type ModelMessage,
  type ModelRequest,
  type ModelTool,
  type ModelToolCall,
  parseToolArguments,
  type ToolMessage,
  type UserMessage,
} from './chat-model.ts';
export {
  type SelectableModel,
  type ChosenModel,
  createChatModel,
  resolveWindow,
} from './create-chat-model.ts';
export {
  getContextTokens,
  listModelChoices,
  ModelPrice,
  ModelSettings,
  ModelTimeouts,
  ProviderChoice,
} from './model-settings.ts';
export { OFFLINE_MODEL } from './offline-model.ts';
