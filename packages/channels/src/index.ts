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
  hasFreeSpace as hasRoom,
  startAttachmentFetcher,
} from './attachments/attachment-fetcher.ts';
export type { MediaLimits } from './attachments/fetch-plan.ts';
export { toFileResponse as fileResponse } from './attachments/file-response.ts';
export { parseJson, readBody, readUpTo } from './bounded-body.ts';
export {
  checkAdapter as checkedAdapter,
  checkSenderFacts as checkedFacts,
  checkState as checkedState,
  findShapeProblems as shapeProblems,
  findStoppingDefect as stoppingDefect,
} from './checked-adapter.ts';
export { describeApprovalVerdict as approvalText } from './commands/approval-text.ts';
export type {
  CommandServices,
  GatewayFacts as Situation,
  MessageMemory,
  SkillCommands,
  TypedCommand,
} from './commands/command.ts';
export { COMMANDS, RESERVED_COMMANDS } from './commands/list.ts';
export { pairOutsideChat as pair, refusePairing } from './commands/pair.ts';
export { findMemoriesOf as memoriesOf } from './commands/rewind.ts';
export {
  isCommand,
  parseCommand,
  splitCommand,
  toFollowingMessage as messageAfter,
} from './commands/typed-command.ts';
export type { DeliveryDeps } from './delivery/deliver-chat.ts';
export {
  type DeliveryWorker,
  scrubPart,
  startDeliveryWorker,
} from './delivery/delivery-worker.ts';
export { performAction as actOn } from './delivery/part-act.ts';
export { withPartFile } from './delivery/part-file.ts';
export {
  getBootId as bootOfMachine,
  openSendNotes,
  type SendNotes,
} from './delivery/send-notes.ts';
export {
  findUndeclaredCapabilities as findUndeclared,
  guardAdapter,
  guarded,
  type OnFault,
  reportAdapterError as blameAdapter,
  setHandledEvent as handling,
  withoutNulls,
} from './guard.ts';
export { resolveAgent, routeAgent } from './ingress/agent-route.ts';
export { createContractError as brokenContract } from './ingress/identify.ts';
export { createIngress } from './ingress/ingress.ts';
export type { IngressDeps } from './ingress/ingress-deps.ts';
export { GIVEN_UP } from './ingress/notices.ts';
export {
  APPROVAL_CODE_LENGTH,
  CODE_LENGTH,
  createOneTimeCode as oneTimeCode,
} from './ingress/one-time-code.ts';
export { createReactionReceiver as createReacted } from './ingress/reactions.ts';
export {
  renderNoticeParts,
  resolveReplyRoute as answerRoute,
  toConversationId as conversationIdOf,
} from './ingress/route.ts';
export type { AgentRoute, AgentRules, DecisionRules } from './ingress/rules.ts';
export { findOwnership as ownershipOf, toPersonId as personId } from './ingress/sender.ts';
export {
  createIgnoredRecorder as createIgnored,
  createSkippedRecorder as createSkipped,
} from './ingress/skipped.ts';
export {
  type CurrentSender as SenderNow,
  findCurrentSender as senderNow,
  findNamedChat as namedChat,
  findOwnerChat as ownersChat,
  listOwnerChats as ownersChats,
  type NamedChat,
  type OwnerChatDeps as OwnersChatDeps,
  readChatHistory as chatHistory,
} from './known-chats.ts';
export {
  type CommandInfo,
  type CommandUses,
  describeOmitted as leftOutText,
  type FittedMenu,
  fitMenu,
  type MenuItem,
  type MenuLimits,
} from './menu.ts';
export { withOptionalLibrary } from './optional-library.ts';
export { startPresence } from './presence/presence.ts';
export {
  type ChannelEnv,
  type ConnectionFailureDecision as AfterConnectionFailure,
  computeReconnectBackoff as reconnectBackoff,
  jitterDelay,
  RECONNECT,
  realEnv,
  reportAndWait,
} from './reconnect.ts';
export { isSameSecretText as sameSecret } from './same-secret.ts';
export { callOutcome } from './send-outcome.ts';
export type { ChatsCapability } from './shown-chats.ts';
export { describeUnread as unreadText } from './unread.ts';
export { findWrongAddress as wrongAddress } from './wrong-address.ts';
