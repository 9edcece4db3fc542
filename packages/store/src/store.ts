import type { AdapterValues } from '@parley/contracts';
import type { ApprovalRepository } from './approvals.ts';
import type { AttachmentRepository } from './attachments.ts';
import type { AuditRepository } from './audit.ts';
import type { BacklogRepository } from './backlog.ts';
import type { CronJobRepository } from './cron-jobs.ts';
import type { DeadLetterRepository } from './dead-letters.ts';
import type { DecisionRepository } from './decisions.ts';
import type { ForgettingRepository } from './forgetting/forgetting.ts';
import type { HeartbeatRepository } from './heartbeat-runs.ts';
import type { TranscriptRepository } from './history.ts';
import type { InboxRepository } from './inbox.ts';
import type { LaneRepository } from './lanes.ts';
import type { LeaseRepository } from './leases.ts';
import type { LinkRepository } from './links.ts';
import type { MemoryIndex } from './memory-index.ts';
import type { OutboxRepository } from './outbox-parts.ts';
import type { OverheardRepository } from './overheard.ts';
import type { PageSessionRepository } from './page-sessions.ts';
import type { PairingRepository } from './pairing.ts';
import type { PinRepository } from './pins.ts';
import type { ProcessRepository } from './processes.ts';
import type { PromptRepository } from './prompts.ts';
import type { RetentionRepository } from './retention.ts';
import type { SoulRepository } from './soul-versions.ts';
import type { SpendRepository } from './spend.ts';
import type { StoreError } from './store-error.ts';
import type { SubAgentRepository } from './sub-agent-rows.ts';
import type { SummaryRepository } from './summaries.ts';
import type { TodoRepository } from './todos.ts';
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
