export type { BeforePart } from '@parley/store';
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
  hasRoom,
  startAttachmentFetcher,
} from './attachments/attachment-fetcher.ts';
export type { MediaLimits } from './attachments/fetch-plan.ts';
export { fileResponse } from './attachments/file-response.ts';
export { parseJson, readBody, readUpTo } from './bounded-body.ts';
export {
  checkedAdapter,
  checkedFacts,
  checkedState,
  shapeProblems,
  stoppingDefect,
} from './checked-adapter.ts';
export { approvalText } from './commands/approval-text.ts';
export type {
  CommandServices,
  Situation,
  SkillCommands,
  TypedCommand,
} from './commands/command.ts';
export { COMMANDS, RESERVED_COMMANDS } from './commands/list.ts';
export { pairOutsideChat as pair, refusePairing } from './commands/pair.ts';
export {
  isCommand,
  messageAfter,
  parseCommand,
  splitCommand,
} from './commands/typed-command.ts';
export type { DeliveryDeps } from './delivery/deliver-chat.ts';
export {
  type DeliveryWorker,
  scrubPart,
  startDeliveryWorker,
} from './delivery/delivery-worker.ts';
export { actOn } from './delivery/part-act.ts';
export { withPartFile } from './delivery/part-file.ts';
export { bootOfMachine, openSendNotes, type SendNotes } from './delivery/send-notes.ts';
export {
  blameAdapter,
  findUndeclared,
  guardAdapter,
  guarded,
  handling,
  type OnFault,
  withoutNulls,
} from './guard.ts';
export { resolveAgent, routeAgent } from './ingress/agent-route.ts';
export { brokenContract } from './ingress/identify.ts';
export { createIngress } from './ingress/ingress.ts';
export type { IngressDeps } from './ingress/ingress-deps.ts';
export { GIVEN_UP } from './ingress/notices.ts';
export { APPROVAL_CODE_LENGTH, CODE_LENGTH, oneTimeCode } from './ingress/one-time-code.ts';
export { createReacted } from './ingress/reactions.ts';
export { answerRoute, conversationIdOf, renderNoticeParts } from './ingress/route.ts';
export type { AgentRoute, AgentRules, DecisionRules } from './ingress/rules.ts';
export { ownershipOf, personId } from './ingress/sender.ts';
export { createIgnored, createSkipped } from './ingress/skipped.ts';
export {
  chatHistory,
  type NamedChat,
  namedChat,
  type OwnersChatDeps,
  ownersChat,
  ownersChats,
  type SenderNow,
  senderNow,
} from './known-chats.ts';
export {
  type CommandInfo,
  type CommandUses,
  type FittedMenu,
  fitMenu,
  leftOutText,
  type MenuItem,
  type MenuLimits,
} from './menu.ts';
export { withOptionalLibrary } from './optional-library.ts';
export { startPresence } from './presence/presence.ts';
export {
  type AfterConnectionFailure,
  type ChannelEnv,
  jitterDelay,
  RECONNECT,
  realEnv,
  reconnectBackoff,
  reportAndWait,
} from './reconnect.ts';
export { sameSecret } from './same-secret.ts';
export { callOutcome } from './send-outcome.ts';
export type { ChatsCapability } from './shown-chats.ts';
export { unreadText } from './unread.ts';
export { wrongAddress } from './wrong-address.ts';
