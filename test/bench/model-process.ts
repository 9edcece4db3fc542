import { startModelDouble } from '../model/index.ts';
import { SHORT_ANSWER } from './sample-answer.ts';

// The model double in a process of its own: it answers at once, and always the same.

const double = await startModelDouble({ reply: () => SHORT_ANSWER });
process.on('disconnect', () => void double.close());
process.send?.({ result: { baseUrl: double.baseUrl } });
