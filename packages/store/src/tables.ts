import type { PageSessionTables } from './page-sessions.ts';
import type { RetentionTables } from './retention.ts';
import type { CronTables } from './tables/cron-tables.ts';
import type { DeadLetterTables } from './tables/dead-letter-tables.ts';
import type { HeartbeatTables } from './tables/heartbeat-tables.ts';
import type { InboundTables } from './tables/inbound-tables.ts';
import type { LaneTables } from './tables/lane-tables.ts';
import type { LedgerTables } from './tables/ledger-tables.ts';
import type { MemoryTables } from './tables/memory-tables.ts';
import type { OutboundTables } from './tables/outbound-tables.ts';
import type { PeopleTables } from './tables/people-tables.ts';
import type { ProcessTables } from './tables/process-tables.ts';
import type { PromptTables } from './tables/prompt-tables.ts';
import type { SoulTables } from './tables/soul-tables.ts';
import type { WorkTables } from './tables/work-tables.ts';

/** All tables, for Kysely; a new one belongs to one of these families. Times are ms since 1970. */
export interface Tables
  extends LaneTables,
    InboundTables,
    OutboundTables,
    DeadLetterTables,
    WorkTables,
    PeopleTables,
    PromptTables,
    MemoryTables,
    LedgerTables,
    HeartbeatTables,
    CronTables,
    PageSessionTables,
    ProcessTables,
    RetentionTables,
    SoulTables {}
