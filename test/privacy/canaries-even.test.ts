import { describe } from 'vitest';
import { itKeepsSecrets } from './canary-turns.ts';

describe('what only the owner may see, and what only one group may', () => {
  itKeepsSecrets('even');
});
