import { judgeTask } from './judge-task.js';

/** What a thread of the pool does. */
export default judgeTask;
