export type {
  Approval,
  ApprovalRepository,
  ApprovalVerdict,
  NewApproval,
} from './approvals.ts';
export type { Backlog, BacklogRepository } from './backlog.ts';
export type {
  CronBounds,
  CronChange,
  CronJob,
  CronJobRepository,
  CronJobState,
  NewCronJob,
} from './cron-jobs.ts';
export type {
  DeadLetter,
  DeadLetterRepository,
  LetterReplay,
  LetterWake,
} from './dead-letters.ts';
export type {
  AwaitedYes,
  Decision,
  DecisionRepository,
  MessageStory,
  TurnStory,
} from './decisions.ts';
export type {
  Forgetting,
  ForgettingRepository,
  Forgotten,
  PersonForgotten,
  RawSearch,
} from './forgetting.ts';
export {
  type BeatAlert,
  type BeatOrder,
  type BeatPlan,
  type BeatRun,
  type BeatSlot,
  type BeatState,
  type BeatTurn,
  HEARTBEAT_LANE,
  type HeartbeatRepository,
} from './heartbeats.ts';
export type { CommandEffect, CommandResult, InboxRepository, MessageKey } from './inbox.ts';
export type { Interruption, Joining, LaneRepository } from './lanes.ts';
export type { Link, LinkAction, LinkRepository, LinkResult } from './links.ts';
export type { IndexedMemory, MemoryIndex } from './memory-index.ts';
export type { ConversationMode, ModeChange, PlanRun } from './modes.ts';
export { openStore, type StoreOptions } from './open-store.ts';
export type {
  AccountWork,
  BeforePart,
  ChatKey,
  DuePart,
  OutboxEntry,
  OutboxRepository,
  PartState,
  Post,
  PostResult,
} from './outbox.ts';
export type { PageSession, PageSessionRepository } from './page-sessions.ts';
export type { PairingApplicant, PairingRepository, PairingRequest } from './pairing.ts';
export type {
  NewPrompt,
  PromptRepository,
  PromptSearch,
  PromptSummary,
  StoredPrompt,
} from './prompts.ts';
export type {
  AttachmentKey,
  AttachmentRepository,
  DueAttachment,
  StoredAttachment,
} from './repositories/attachment-repository.ts';
export type {
  AuditRepository,
  JournalledWrite,
  KnownPerson,
} from './repositories/audit-repository.ts';
export type {
  HeldLease,
  LeaseRepository,
  LeaseRow,
  NamedLease,
} from './repositories/lease-repository.ts';
export type { OverheardRepository } from './repositories/overheard-repository.ts';
export type { PinPlace } from './repositories/pin-repository.ts';
export {
  PROCESS_GONE_AFTER_MS,
  type ProcessFacts,
  type ProcessRepository,
  type ProcessRole,
  type RunningProcess,
} from './repositories/process-repository.ts';
export { goesToSamePlace } from './repositories/ready-messages.ts';
export type {
  SpendAccount,
  SpendRepository,
  Spent,
  SpentOfDay,
} from './repositories/spend-repository.ts';
export type {
  StoredSummary,
  SummaryPlace,
  SummaryRepository,
  SummaryTask,
} from './repositories/summary-repository.ts';
export type { TodoItem, TodoRepository } from './repositories/todo-repository.ts';
export type {
  NumberedEntry,
  RememberedEntry,
  TranscriptRepository,
} from './repositories/transcript-repository.ts';
export type {
  RetentionAges,
  RetentionBounds,
  RetentionPace,
  RetentionRepository,
  RetentionRun,
} from './retention.ts';
export type {
  AdmittedMessage,
  ClaimedTurn,
  CommitResult,
  InboxRow,
  JournalStep,
  Lease,
  NewPart,
  Overheard,
  TranscriptEntry,
  TurnCommit,
  TurnUsage,
} from './rows.ts';
export type {
  NewSoul,
  SoulAuthor,
  SoulFinding,
  SoulProposal,
  SoulRepository,
  SoulRollback,
  SoulState,
  SoulVerdict,
  SoulVersion,
} from './souls.ts';
export type { StorageUse, TableUse } from './storage.ts';
export type { Store } from './store.ts';
export { StoreError, type StoreErrorCode } from './store-error.ts';
export {
  SUB_AGENT_LANE,
  type SubAgentBounds,
  type SubAgentOrder,
  type SubAgentRepository,
  type SubAgentRun,
  type SubAgentTurn,
} from './sub-agents.ts';
export type { TurnRepository, TurnTotals } from './turns.ts';
export type { WhyQuestion, WhyRepository } from './why.ts';
