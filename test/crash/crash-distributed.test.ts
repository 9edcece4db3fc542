import { describe, inject } from 'vitest';
import { testCrashPromises } from './crash-promises.ts';

const redisUrl = inject('redisUrl');
const postgresUrl = inject('postgresUrl');

// Uses dedicated servers because it kills them.
describe.runIf(redisUrl && postgresUrl)('[D09] killed gateways, workers and servers', () => {
  testCrashPromises('distributed');
});
