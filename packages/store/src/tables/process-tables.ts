import type { Generated } from 'kysely';
import type { ProcessRole } from '../repositories/process-repository.ts';

/** Things that one process at a time may do; a row stays for its epoch. Free: `owner` is null. */
export interface LeaseTable {
  name: string;
  epoch: number;
  owner: string | null;
  lease_until: number | null;
}

/** The processes of the deployment; `address` is that of their web server. */
export interface ProcessTable {
  id: string;
  role: ProcessRole;
  host: string;
  pid: number;
  address: string;
  version: string;
  started_at: number;
  seen_at: number;
  /** JSON: `ProcessFacts`. */
  facts: Generated<string | null>;
}

/** What processes know of each other. */
export interface ProcessTables {
  lease: LeaseTable;
  process: ProcessTable;
}
