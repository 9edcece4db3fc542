export { type AnswerLimits, DEFAULT_ANSWER_BOUNDS } from './answer-bounds.ts';
export {
  type AssistantMessage,
  type ChatModel,
  type ExceededAnswerLimit,
  type HiddenAnswerParts,
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
  type ChosenModel,
  createChatModel,
  resolveWindow,
  type SelectableModel,
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
