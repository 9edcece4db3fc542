import { describe } from 'vitest';
import { documentProperties } from './markup/document-properties.ts';

describe('Plain text', () => documentProperties('plain'));
