import type { AdapterValues } from '@parley/contracts';
import type { ApprovalRepository } from './approvals.ts';
import type { BacklogRepository } from './backlog.ts';
import type { CronJobRepository } from './cron-jobs.ts';
import type { DeadLetterRepository } from './dead-letters.ts';
import type { DecisionRepository } from './decisions.ts';
import type { ForgettingRepository } from './forgetting.ts';
import type { HeartbeatRepository } from './heartbeats.ts';
import type { InboxRepository } from './inbox.ts';
import type { LaneRepository } from './lanes.ts';
import type { LinkRepository } from './links.ts';
import type { MemoryIndex } from './memory-index.ts';
import type { OutboxRepository } from './outbox.ts';
import type { PageSessionRepository } from './page-sessions.ts';
import type { PairingRepository } from './pairing.ts';
import type { PromptRepository } from './prompts.ts';
import type { AttachmentRepository } from './repositories/attachment-repository.ts';
import type { AuditRepository } from './repositories/audit-repository.ts';
import type { LeaseRepository } from './repositories/lease-repository.ts';
import type { OverheardRepository } from './repositories/overheard-repository.ts';
import type { PinRepository } from './repositories/pin-repository.ts';
import type { ProcessRepository } from './repositories/process-repository.ts';
import type { SpendRepository } from './repositories/spend-repository.ts';
import type { SummaryRepository } from './repositories/summary-repository.ts';
import type { TodoRepository } from './repositories/todo-repository.ts';
import type { TranscriptRepository } from './repositories/transcript-repository.ts';
import type { RetentionRepository } from './retention.ts';
import type { SoulRepository } from './souls.ts';
import type { StoreError } from './store-error.ts';
import type { SubAgentRepository } from './sub-agents.ts';
import type { TurnRepository } from './turns.ts';
import type { WhyRepository } from './why.ts';

/** The database: one repository per table family, each the only writer of its tables. */
export interface Store {
  readonly inbox: InboxRepository;
  readonly attachments: AttachmentRepository;
  readonly lanes: LaneRepository;
  readonly turns: TurnRepository;
  readonly approvals: ApprovalRepository;
  readonly transcript: TranscriptRepository;
  readonly outbox: OutboxRepository;
  readonly deadLetters: DeadLetterRepository;
  readonly backlog: BacklogRepository;
  readonly overheard: OverheardRepository;
  readonly pairing: PairingRepository;
  readonly decisions: DecisionRepository;
  readonly why: WhyRepository;
  readonly links: LinkRepository;
  readonly pins: PinRepository;
  readonly prompts: PromptRepository;
  readonly spend: SpendRepository;
  readonly todos: TodoRepository;
  readonly memories: MemoryIndex;
  readonly forgetting: ForgettingRepository;
  readonly summaries: SummaryRepository;
  readonly subAgents: SubAgentRepository;
  readonly heartbeats: HeartbeatRepository;
  readonly cronJobs: CronJobRepository;
  readonly souls: SoulRepository;
  readonly leases: LeaseRepository;
  readonly processes: ProcessRepository;
  readonly pageSessions: PageSessionRepository;
  readonly audit: AuditRepository;
  readonly retention: RetentionRepository;
  /** What the adapter of this account must remember. */
  adapterValues(channel: string, account: string): AdapterValues;
  /** Resolves when the database can be read and written; rejects with a StoreError otherwise. For `/readyz`. */
  ping(): Promise<void>;
  /** What queries have found to be wrong with the database as a whole; null: nothing. Asks nothing. */
  trouble(): StoreError | null;
  close(): Promise<void>;
}
