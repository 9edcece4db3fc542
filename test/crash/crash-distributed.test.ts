import { describe, inject } from 'vitest';
import { keepsItsPromises } from './crash-promises.ts';

const redisUrl = inject('redisUrl');
const postgresUrl = inject('postgresUrl');

// Uses dedicated servers, since it kills them.
describe.runIf(redisUrl && postgresUrl)('[D09] gateways, workers and their servers when they are killed', () => {
  keepsItsPromises('distributed');
});
