import { randomBytes } from 'node:crypto';
import type { NewId } from '@parley/contracts';

/** Ids that nobody can guess and that do not meet twice: 72 bits of chance behind what they are of. */
export const newId: NewId = (prefix) => `${prefix}_${randomBytes(9).toString('base64url')}`;
