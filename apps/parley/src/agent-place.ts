import { fileURLToPath } from 'node:url';
import type { AgentPlace } from '@parley/agent';
