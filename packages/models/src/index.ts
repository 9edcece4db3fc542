export type {
  AssistantMessage,
  ChatModel,
  ModelEvent,
  ModelFinish,
  ModelImage,
  ModelMessage,
  ModelRequest,
  ModelTool,
  ModelToolCall,
  ModelUsage,
  SystemLayer,
  ToolMessage,
  UserMessage,
} from './chat-model.ts';
export { contextTokensOf } from './context-tokens.ts';
export { type ChatModelDeps, type ChosenModel, createChatModel } from './create-chat-model.ts';
export { ModelError, type ModelFailure } from './model-error.ts';
export { ModelPrice, ModelSettings, ModelTimeouts, ProviderChoice } from './model-settings.ts';
export { toolArguments } from './tool-arguments.ts';
