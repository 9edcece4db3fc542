import type { ColumnType } from 'kysely';
import type { AdapterValueTable } from './adapter-values.ts';
import type { ApprovalTable } from './approvals.ts';
import type { AttachmentTable } from './attachments.ts';
import type { ConversationTable } from './conversations.ts';
import type { CronJobTable } from './cron-jobs.ts';
import type { DeadLetterTable } from './dead-letters.ts';
import type { DecisionTable } from './decisions.ts';
import type { BeatTable, HeartbeatTable } from './heartbeat-runs.ts';
import type { TranscriptTable } from './history.ts';
import type { InboxTable } from './inbox-rows.ts';
import type { LeaseTable } from './leases.ts';
import type { LinkCodeTable, PersonLinkTable } from './links.ts';
import type { MemoryEntryTable } from './memory-index.ts';
import type { MigrationTable } from './migrate.ts';
import type { OutboxTable } from './outbox-parts.ts';
import type { OverheardTable } from './overheard.ts';
import type { PageSessionTables } from './page-sessions.ts';
import type { LetInTable, PairingRequestTable } from './pairing.ts';
import type { SessionPinTable } from './pins.ts';
import type { ProcessTable } from './processes.ts';
import type { PromptTextTable, TurnPromptTable } from './prompt-rows.ts';
import type { RetentionTables } from './retention.ts';
import type { SoulTable, SoulVersionTable } from './soul-versions.ts';
import type { SpendTable } from './spend.ts';
import type { SubAgentTable } from './sub-agent-rows.ts';
import type { SummaryTable } from './summaries.ts';
import type { TodoListTable } from './todos.ts';
import type { TurnStepTable, TurnTable } from './turns.ts';

/** All tables, for Kysely. Each is described in the file of its subject. Times are ms since 1970. */
export interface Tables extends PageSessionTables, RetentionTables {
  conversation: ConversationTable;
  turn: TurnTable;
  turn_step: TurnStepTable;
  transcript: TranscriptTable;
  inbox: InboxTable;
  attachment: AttachmentTable;
  overheard: OverheardTable;
  decision: DecisionTable;
  outbox: OutboxTable;
  adapter_value: AdapterValueTable;
  dead_letter: DeadLetterTable;
  approval: ApprovalTable;
  sub_agent: SubAgentTable;
  todo_list: TodoListTable;
  pairing_request: PairingRequestTable;
  let_in: LetInTable;
  person_link: PersonLinkTable;
  link_code: LinkCodeTable;
  session_pin: SessionPinTable;
  prompt_text: PromptTextTable;
  turn_prompt: TurnPromptTable;
  memory_entry: MemoryEntryTable;
  summary: SummaryTable;
  spend: SpendTable;
  parley_migration: MigrationTable;
  heartbeat: HeartbeatTable;
  beat: BeatTable;
  cron_job: CronJobTable;
  lease: LeaseTable;
  process: ProcessTable;
  soul: SoulTable;
  soul_version: SoulVersionTable;
}

/** A number the database gives: the order of storing. Never written. */
export type Seq = ColumnType<number, never, never>;
