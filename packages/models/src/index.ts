export type {
  ChatModel,
  ModelEvent,
  ModelFinish,
  ModelMessage,
  ModelRequest,
  ModelUsage,
  SystemLayer,
} from './chat-model.ts';
export { type ChatModelDeps, type ChosenModel, createChatModel } from './create-chat-model.ts';
export { ModelError, type ModelFailure } from './model-error.ts';
export { ModelPrice, ModelSettings, ModelTimeouts, ProviderChoice } from './model-settings.ts';
