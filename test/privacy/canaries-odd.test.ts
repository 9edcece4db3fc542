import { describe } from 'vitest';
import { testCanaryTurns } from './canary-turns.ts';

describe('what only the owner may see, and what only one group may', () => {
  testCanaryTurns('odd');
});
