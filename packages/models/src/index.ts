export type {
  ChatModel,
  ModelEvent,
  ModelFinish,
  ModelImage,
  ModelMessage,
  ModelRequest,
  ModelUsage,
  SystemLayer,
  UserMessage,
} from './chat-model.ts';
export { type ChatModelDeps, type ChosenModel, createChatModel } from './create-chat-model.ts';
export { ModelError, type ModelFailure } from './model-error.ts';
export { ModelPrice, ModelSettings, ModelTimeouts, ProviderChoice } from './model-settings.ts';
