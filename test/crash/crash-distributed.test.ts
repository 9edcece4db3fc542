import { describe, inject } from 'vitest';
import { keepsItsPromises } from './crash-promises.ts';

const redisUrl = inject('redisUrl');
const postgresUrl = inject('postgresUrl');

// With servers of its own, since it kills them.
describe.runIf(redisUrl && postgresUrl)('[D09] gateways, workers and their servers, killed', () => {
  keepsItsPromises('distributed');
});
