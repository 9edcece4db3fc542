import type { Insertable, Selectable } from 'kysely';
import { z } from 'zod';
import type { Approval, NewApproval } from '../approvals.ts';
import { fromCheckedJson, toJson } from '../json-column.ts';
import type { ApprovalTable } from '../tables.ts';
