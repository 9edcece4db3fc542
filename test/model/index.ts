export type { ChatRequest } from './chat-request.ts';
export {
  ModelDouble,
  type ModelDoubleOptions,
  type RecordedRequest,
  startModelDouble,
} from './model-double.ts';
export type { ModelFault } from './model-fault.ts';
export { echo, type Reply, type ReplyScript } from './scripted-reply.ts';
