export type { Approval, ApprovalRepository, ApprovalVerdict, NewApproval } from './approvals.ts';
export type {
  AttachmentKey,
  AttachmentRepository,
  DueAttachment,
  StoredAttachment,
} from './attachments.ts';
export type { AuditRepository, JournalledWrite, KnownPerson } from './audit.ts';
export type { Backlog, BacklogRepository } from './backlog.ts';
export { goesToSamePlace } from './claim-turn.ts';
export type { CommandEffect, CommandResult } from './commands.ts';
export type {
  CronBounds,
  CronChange,
  CronJob,
  CronJobRepository,
  CronJobState,
  NewCronJob,
} from './cron-jobs.ts';
export type { DeadLetter, DeadLetterRepository, LetterReplay, LetterWake } from './dead-letters.ts';
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
} from './forgetting/forgetting.ts';
export type {
  BeatAlert,
  BeatOrder,
  BeatPlan,
  BeatRun,
  BeatSlot,
  BeatState,
  BeatTurn,
} from './heartbeat-runs.ts';
export type { HeartbeatRepository } from './heartbeats.ts';
export type { NumberedEntry, RememberedEntry, TranscriptRepository } from './history.ts';
export type { InboxRepository, MessageKey } from './inbox.ts';
export type { Interruption, Joining, LaneRepository } from './lanes.ts';
export type { HeldLease, LeaseRepository, LeaseRow, NamedLease } from './leases.ts';
export type { Link, LinkAction, LinkRepository, LinkResult } from './links.ts';
export { HEARTBEAT_LANE, SUB_AGENT_LANE } from './literals.ts';
export type { IndexedMemory, MemoryIndex } from './memory-index.ts';
export type { ConversationMode, ModeChange, PlanRun } from './modes.ts';
export { openStore, type Store, type StoreOptions } from './open-store.ts';
export type { OutboxRepository } from './outbox.ts';
export type {
  AccountWork,
  BeforePart,
  ChatKey,
  DuePart,
  OutboxEntry,
  PartState,
  Post,
  PostResult,
} from './outbox-parts.ts';
export type { OverheardRepository } from './overheard.ts';
export type { PageSession, PageSessionRepository } from './page-sessions.ts';
export type { PairingApplicant, PairingRepository, PairingRequest } from './pairing.ts';
export type { PinPlace } from './pins.ts';
export {
  PROCESS_GONE_AFTER_MS,
  type ProcessFacts,
  type ProcessRepository,
  type ProcessRole,
  type RunningProcess,
} from './processes.ts';
export type {
  NewPrompt,
  PromptRepository,
  PromptSearch,
  PromptSummary,
  StoredPrompt,
} from './prompts.ts';
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
  SoulRollback,
  SoulState,
  SoulVerdict,
  SoulVersion,
} from './soul-versions.ts';
export type { SoulRepository } from './souls.ts';
export type { SpendAccount, SpendRepository, Spent, SpentOfDay } from './spend.ts';
export type { StorageUse, TableUse } from './storage.ts';
export { StoreError, type StoreErrorCode } from './store-error.ts';
export type {
  SubAgentBounds,
  SubAgentOrder,
  SubAgentRun,
  SubAgentTurn,
} from './sub-agent-rows.ts';
export type { SubAgentRepository } from './sub-agents.ts';
export type { StoredSummary, SummaryPlace, SummaryRepository, SummaryTask } from './summaries.ts';
export type { TodoItem, TodoRepository } from './todos.ts';
export type { TurnRepository, TurnTotals } from './turns.ts';
export type { WhyQuestion, WhyRepository } from './why.ts';
