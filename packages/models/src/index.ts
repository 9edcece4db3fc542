export { type AnswerBounds, DEFAULT_ANSWER_BOUNDS } from './answer-bounds.ts';
export {
  type AnswerAside,
  type AnswerCut,
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
  type ToolMessage,
  toolArguments,
  type UserMessage,
} from './chat-model.ts';
export {
  type ChoosableModel,
  type ChosenModel,
  createChatModel,
  effectiveWindow,
} from './create-chat-model.ts';
export {
  contextTokensOf,
  ModelPrice,
  ModelSettings,
  ModelTimeouts,
  modelChoices,
  ProviderChoice,
} from './model-settings.ts';
export { OFFLINE_MODEL } from './offline-model.ts';
