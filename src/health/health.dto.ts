import { ApiExtraModels, ApiProperty } from '@nestjs/swagger';
import { ApiModel, schemaRef } from '../platform/http/api-model.decorator.js';

@ApiModel('Liveness', 'The process turns.')
export class LivenessDto {
  @ApiProperty({ enum: ['ok'], enumName: 'LivenessStatus' })
  status!: 'ok';
}

@ApiModel('HealthIndicator', 'How one part is. What else it has explains it.', { additionalProperties: true })
export class HealthIndicatorDto {
  @ApiProperty({ enum: ['up', 'down'], enumName: 'HealthIndicatorStatus' })
  status!: 'up' | 'down';
}

@ApiExtraModels(HealthIndicatorDto)
@ApiModel('HealthIndicators', 'Parts by name: `server` and `database`.', {
  additionalProperties: schemaRef('HealthIndicator'),
})
class HealthIndicatorsDto {}

@ApiModel('HealthReport', 'Whether the server takes requests, and if not, which part is the reason.')
export class HealthReportDto {
  @ApiProperty({ enum: ['ok', 'error', 'shutting_down'], enumName: 'HealthStatus' })
  status!: 'ok' | 'error' | 'shutting_down';
  /** The parts that are up. */
  @ApiProperty({ type: HealthIndicatorsDto })
  info!: Record<string, HealthIndicatorDto>;
  /** The parts that are down. */
  @ApiProperty({ type: HealthIndicatorsDto })
  error!: Record<string, HealthIndicatorDto>;
  /** All parts. */
  @ApiProperty({ type: HealthIndicatorsDto })
  details!: Record<string, HealthIndicatorDto>;
}
