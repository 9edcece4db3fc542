export type {
  PageSession,
  PageSessionRepository,
  PairingRepository,
  PairingRequest,
  SignIn,
  SignInRepository,
} from './access.ts';
export type { AccountPause, UnapprovedGroup } from './accounts.ts';
export type { AgentFile, AgentFileRepository } from './agent-files.ts';
export type { Approval, NewApproval } from './approval-rows.ts';
export type { ApprovalVerdict } from './approvals.ts';
export type { HiddenStepParts } from './asides.ts';
export type { SenderKey } from './attachment-room.ts';
export type {
  AttachmentKey,
  AttachmentRepository,
  DueAttachment,
  MessageFile,
  StoredAttachment,
} from './attachments.ts';
export type { ChatStateBeforePart } from './before-part.ts';
export type { BranchedTurn, NewBranchTurn } from './branches.ts';
export type { CommandTransaction, PairingState } from './commands.ts';
export type {
  BrowserMarks,
  ConversationMark,
  ConversationMarkChange,
} from './conversation-marks.ts';
export type { ApprovalView } from './conversation-views/approvals.ts';
export type { ConversationDetails } from './conversation-views/details.ts';
export type { ConversationView } from './conversation-views/list.ts';
export type { MessagePage, MessageView, PageCursor } from './conversation-views/messages.ts';
export type { SearchHit } from './conversation-views/search.ts';
export type { ConversationAction } from './conversation-views.ts';
export type { ChatKey } from './conversations.ts';
export {
  HEARTBEAT_LANE,
  HOOK_AGENT,
  isLane,
  type ModeChange,
  type PlanRunResult,
  SUB_AGENT_LANE,
} from './conversations.ts';
export type { CronJob, CronJobChange, CronJobLimits, NewCronJob } from './cron-jobs.ts';
export { StoreError } from './database.ts';
export type { DeadLetter } from './dead-letter-rows.ts';
export type { DeadLetterWake } from './dead-letters.ts';
export type { MessageTrace, PendingApproval, TurnTrace, WhyRepository } from './decisions.ts';
export type { DoneEffect } from './done-effects.ts';
export { computeRemainingDelay } from './due.ts';
export type {
  ForgettingRepository,
  ForgottenCounts,
  RawSearchResult,
} from './forgetting/forgetting.ts';
export type { PersonForgetResult } from './forgetting/person.ts';
export { isBotMessage } from './group-context.ts';
export type {
  HeartbeatPlan,
  HeartbeatRun,
  HeartbeatRunRequest,
  HeartbeatRunResult,
  HeartbeatSlot,
} from './heartbeat-runs.ts';
export type { InboxRepository } from './inbox.ts';
export type { LaneRepository } from './lanes.ts';
export type { JoinRules } from './later-messages.ts';
export type { LinkAction, LinkRepository, LinkRequester, LinkResult } from './links.ts';
export type { MemoryIndex } from './memory-index.ts';
export type { AnswerUsage, MessageAnswer } from './message-answers.ts';
export { openStore } from './open-store.ts';
export type { OutboxRepository } from './outbox.ts';
export type {
  AccountWork,
  DuePart,
  PostRequest,
  PostResult,
} from './outbox-parts.ts';
export type { AgentAnswer } from './own-answers.ts';
export type {
  LeaseRepository,
  LeaseRow,
  NamedLease,
  ProcessInfo,
  ProcessRole,
  RunningProcess,
} from './processes.ts';
export {
  hashMessage,
  type NewPrompt,
  type PromptSummary,
  type StoredPrompt,
} from './prompt-rows.ts';
export type { PromptFilter, PromptRepository } from './prompts.ts';
export { type AnswerVerdict, SENT_FILES, toJoinedStep } from './questions.ts';
export type { StoredMessage } from './reactions.ts';
export { isSameDestination } from './ready-messages.ts';
export type {
  RecordedPast,
  RecordedStep,
  RecordedTurn,
  RecordedTurnRepository,
} from './recorded-turns.ts';
export type { NumberedEntry, RememberedEntry } from './remembered-history.ts';
export type { Backlog, OldestWork } from './reports.ts';
export type { RetentionAges, RetentionLimits, RetentionRun } from './retention.ts';
export type { RewindPoint, RewindResult, Rewound } from './rewind.ts';
export type {
  AdmittedMessage,
  ClaimedTurn,
  ConversationMode,
  InboxRow,
  JournalStep,
  Lease,
  NewPart,
  PartWithBytes,
  TranscriptEntry,
  TurnCommit,
} from './rows.ts';
export type {
  SnapshotKey,
  StoredSummary,
  SummaryKey,
  SummaryTask,
  TodoItem,
  TodoRepository,
} from './sessions.ts';
export type { OpenQuestionView } from './shown-questions.ts';
export type {
  SoulFinding,
  SoulState,
  SoulVerdict,
  SoulVersion,
} from './soul-versions.ts';
export type { SoulRepository } from './souls.ts';
export type { TurnUsage } from './spend.ts';
export {
  countInputTokens,
  type DailySpend,
  type SpendAccount,
  type UsageTotals,
} from './spend.ts';
export type { StoppedWork } from './stop.ts';
export type { StorageUsage, TableUsage } from './storage.ts';
export type { Store } from './store.ts';
export type { StoreMark } from './store-mark.ts';
export type { StoreRollback } from './store-state.ts';
export type { SubAgentBounds, SubAgentRepository, SubAgentRun } from './sub-agents.ts';
export type { PageReply, Takeover } from './takeovers.ts';
export type { TurnRepository } from './turns.ts';
export type { UsageDay, UsageGrouping, UsageSums } from './usage.ts';
export type { UsageFigures } from './usage-tally.ts';
export { isTemporaryFailure } from './watch-database.ts';
