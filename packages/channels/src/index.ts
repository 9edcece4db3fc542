export type { ChatStateBeforePart } from '@parley/store';
export type {
  ChannelAdapter,
  ChannelContext,
  ChannelDefinition,
  ChannelState,
  ChatAddress,
  FilesCapability,
  GrowingAnswer,
  HttpCapability,
  IgnoredEvent,
  IngressOutcome,
  MessageCapability,
  Revision,
  SecretDoor,
  SenderFacts,
  StreamingCapability,
  StreamPace,
} from './adapter.ts';
export { type AnswerPrinter, createAnswerPrinter } from './answer-html.ts';
export {
  type AttachmentFetcher,
  hasFreeSpace,
  startAttachmentFetcher,
} from './attachments/attachment-fetcher.ts';
export type { MediaLimits } from './attachments/fetch-plan.ts';
export { toFileResponse } from './attachments/file-response.ts';
export { parseJson, readBody, readWithLimit } from './bounded-body.ts';
export {
  checkAdapter,
  checkSenderFacts,
  checkState,
  findFatalDefect,
  findShapeProblems,
} from './checked-adapter.ts';
export { describeApprovalVerdict } from './commands/approval-text.ts';
export type {
  CommandServices,
  GatewayInfo,
  MessageMemory,
  SkillCommands,
  TypedCommand,
} from './commands/command.ts';
export { COMMANDS, RESERVED_COMMANDS } from './commands/list.ts';
export { pairOutsideChat, refusePairing } from './commands/pair.ts';
export { findMemoriesOf } from './commands/rewind.ts';
export {
  isCommand,
  parseCommand,
  splitCommand,
  toFollowingMessage,
} from './commands/typed-command.ts';
export type { DeliveryDeps } from './delivery/deliver-chat.ts';
export {
  type DeliveryWorker,
  scrubPart,
  startDeliveryWorker,
} from './delivery/delivery-worker.ts';
export { performAction } from './delivery/part-act.ts';
export { withPartFile } from './delivery/part-file.ts';
export {
  getBootId,
  openSendNotes,
  type SendNotes,
} from './delivery/send-notes.ts';
export {
  findUndeclaredCapabilities,
  guardAdapter,
  guarded,
  type OnFault,
  reportAdapterError,
  setHandledEvent,
  withoutNulls,
} from './guard.ts';
export { resolveAgent, routeAgent } from './ingress/agent-route.ts';
export { createContractError } from './ingress/identify.ts';
export { createIngress } from './ingress/ingress.ts';
export type { IngressDeps } from './ingress/ingress-deps.ts';
export { GIVEN_UP } from './ingress/notices.ts';
export {
  APPROVAL_CODE_LENGTH,
  CODE_LENGTH,
  createOneTimeCode,
} from './ingress/one-time-code.ts';
export { createReactionReceiver } from './ingress/reactions.ts';
export {
  renderNoticeParts,
  resolveReplyRoute,
  toConversationId,
} from './ingress/route.ts';
export type { AgentRoute, AgentRules, DecisionRules } from './ingress/rules.ts';
export { findOwnership, toPersonId } from './ingress/sender.ts';
export {
  createIgnoredRecorder,
  createSkippedRecorder,
} from './ingress/skipped.ts';
export {
  type CurrentSender,
  findCurrentSender,
  findNamedChat,
  findOwnerChat,
  listOwnerChats,
  type NamedChat,
  type OwnerChatDeps,
  readChatHistory,
} from './known-chats.ts';
export {
  type CommandInfo,
  type CommandUses,
  describeOmittedCommands,
  type FittedMenu,
  fitMenu,
  type MenuItem,
  type MenuLimits,
} from './menu.ts';
export { withOptionalLibrary } from './optional-library.ts';
export { startPresence } from './presence/presence.ts';
export {
  type ChannelEnv,
  type ConnectionFailureDecision,
  computeReconnectBackoff,
  jitterDelay,
  RECONNECT,
  realEnv,
  reportAndWait,
} from './reconnect.ts';
export { isSameSecretText } from './same-secret.ts';
export { callOutcome } from './send-outcome.ts';
export type { ChatsCapability } from './shown-chats.ts';
export { describeUnreadContent } from './unread.ts';
export { findUnmatchedRoute } from './wrong-address.ts';
