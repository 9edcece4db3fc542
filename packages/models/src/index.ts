export { type AnswerBounds, DEFAULT_ANSWER_BOUNDS } from './answer-bounds.ts';
export {
  type AnswerAsides as AnswerAside,
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
  parseToolArguments as toolArguments,
  type ToolMessage,
  type UserMessage,
} from './chat-model.ts';
export {
  type ChoosableModel,
  type ChosenModel,
  createChatModel,
  resolveWindow as effectiveWindow,
} from './create-chat-model.ts';
export {
  getContextTokens as contextTokensOf,
  listModelChoices as modelChoices,
  ModelPrice,
  ModelSettings,
  ModelTimeouts,
  ProviderChoice,
} from './model-settings.ts';
export { OFFLINE_MODEL } from './offline-model.ts';
